import { setTimeout as delay } from 'node:timers/promises'

interface RoundsOptions {
  /** Works for a while; resolves with the milliseconds to rest before the next turn. */
  readonly turn: () => Promise<number>
  /** Called with the error of a turn that rejected; returns the milliseconds to rest before the next turn. */
  readonly failed: (error: Error) => number
}

/** Background loop in a processor's process: one turn after the other until it is closed, also after failures. */
export class Rounds {
  readonly #closing = new AbortController()
  #working: Promise<number> = Promise.resolve(0)

  constructor(private readonly options: RoundsOptions) {}

  get isClosing(): boolean {
    return this.#closing.signal.aborted
  }

  start(restMs = 0): void {
    this.#run(restMs)
  }

  /** Stops the loop; waits for the turn in flight, `graceMs` at most. */
  async close(graceMs: number): Promise<void> {
    this.#closing.abort()
    const late = new AbortController()
    await Promise.race([this.#working, delay(graceMs, undefined, { signal: late.signal }).catch(() => {})])
    late.abort()
  }

  async #run(firstRestMs: number) {
    const { signal } = this.#closing
    for (let rest = firstRestMs; ; rest = await this.#working) {
      await delay(rest, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      this.#working = this.options.turn().catch(this.options.failed)
    }
  }
}
