import { setTimeout as delay } from 'node:timers/promises'

interface RoundsOptions {
  /** Works for a while; resolves with the milliseconds to rest before the next turn. */
  readonly turn: () => Promise<number>
  /** Hears why a turn rejected; returns the rest before the next. */
  readonly failed: (error: Error) => number
}

/** Work beside a processor and in its process: a turn after the other until it is closed, whatever becomes of each. */
export class Rounds {
  readonly #closing = new AbortController()
  #working: Promise<number> = Promise.resolve(0)
  #silentSince: number | undefined

  constructor(private readonly options: RoundsOptions) {}

  get isClosing(): boolean {
    return this.#closing.signal.aborted
  }

  /** When the turn in flight began or last moved, milliseconds since 1970; undefined: none is in flight. */
  get silentSince(): number | undefined {
    return this.#silentSince
  }

  /** To be called by a turn that has got on. */
  moved(): void {
    this.#silentSince = Date.now()
  }

  start(restMs = 0): void {
    this.#run(restMs)
  }

  /** Begins no turn any more; the one in flight may take `graceMs`. */
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
      this.moved()
      this.#working = this.options
        .turn()
        .catch(this.options.failed)
        .finally(() => {
          this.#silentSince = undefined
        })
    }
  }
}
