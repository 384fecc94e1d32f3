import type { Response } from 'express'
import { streamLimits } from '../../config/limits.ts'

/** One open stream: what is written to it, and how long it may go on. */
export class Reader {
  #gone = false

  constructor(
    readonly res: Response,
    /** When the stream is to end, in milliseconds since the epoch. */
    readonly endsAt: number,
    readonly limits: { readonly unsentBytes: number; readonly drainSeconds: number } = streamLimits,
  ) {
    res.once('close', () => {
      this.#gone = true
    })
  }

  /** True: nothing can be written any more, because the client is gone or the stream has ended. */
  get isGone(): boolean {
    return this.#gone || this.res.destroyed || this.res.writableEnded
  }

  /**
   * Writes, and waits for the client to catch up if more than `unsentBytes` are buffered. False: the client is gone,
   * or was cut off because it did not catch up within `drainSeconds`, or the stream has ended.
   */
  async write(text: string): Promise<boolean> {
    if (this.isGone) return false
    this.res.write(text)
    if (this.res.writableLength <= this.limits.unsentBytes) return true
    return this.#drained()
  }

  /** Ends the stream after `text`; a client that has not taken what was left within `drainSeconds` is cut off. */
  end(text = ''): void {
    if (this.isGone) return
    this.res.end(text)
    const timer = setTimeout(() => this.res.destroy(), this.limits.drainSeconds * 1_000)
    this.res.once('close', () => clearTimeout(timer))
  }

  #drained(): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (isHere: boolean) => {
        clearTimeout(timer)
        this.res.off('drain', drained).off('close', closed)
        resolve(isHere)
      }
      const drained = () => settle(true)
      const closed = () => settle(false)
      const timer = setTimeout(() => this.res.destroy(), this.limits.drainSeconds * 1_000)
      this.res.once('drain', drained).once('close', closed)
    })
  }
}
