import { setTimeout as delay } from 'node:timers/promises'

interface RoundsOptions {
  /** Works for a while; resolves with the milliseconds to pause before the next round. */
  readonly round: () => Promise<number>
  /** Called with the error of a round that rejected; returns the milliseconds to pause before the next round. */
  readonly failed: (error: Error) => number
}

/** Background loop in a processor's process: one round after the other until it is closed, also after failures. */
export class Rounds {
  readonly #closing = new AbortController()
  #working: Promise<number> = Promise.resolve(0)

  constructor(private readonly options: RoundsOptions) {}

  get isClosing(): boolean {
    return this.#closing.signal.aborted
  }

  start(pauseMs = 0): void {
    this.#run(pauseMs)
  }

  /** Stops the loop; waits for the round in flight, `graceMs` at most. */
  async close(graceMs: number): Promise<void> {
    this.#closing.abort()
    const late = new AbortController()
    await Promise.race([this.#working, delay(graceMs, undefined, { signal: late.signal }).catch(() => {})])
    late.abort()
  }

  async #run(firstPauseMs: number) {
    const { signal } = this.#closing
    for (let pauseMs = firstPauseMs; ; pauseMs = await this.#working) {
      await delay(pauseMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      this.#working = this.options.round().catch(this.options.failed)
    }
  }
}
