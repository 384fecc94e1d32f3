import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { piecesOf, silenceMs } from '../source-request.ts'

/** Longest line of a block, in bytes; a longer one does not come from the Portal. */
const maxLineBytes = 64 * 1024 * 1024
/** Deadline for one line in milliseconds of waiting, however steadily it trickles. */
const maxLineMs = 4 * silenceMs
/** Longest wait of one `read`, in milliseconds; more than a line may take, so its own failure comes first. */
const maxWaitMs = 2 * maxLineMs
const newline = 0x0a

/**
 * A stream in pieces of whole lines. What follows the last line break is passed on too; the reader must find out
 * whether it is a whole line. Rejects when the connection breaks or falls silent, or a line is too slow or too long.
 */
export async function* wholeLines(body: Readable): AsyncGenerator<Buffer, undefined> {
  let rest: Buffer[] = []
  let restBytes = 0
  let waitedMs = 0
  const pieces = piecesOf(body)
  try {
    for (;;) {
      const began = Date.now()
      const { done, value: piece } = await pieces.next()
      if (done) break
      waitedMs += Date.now() - began
      let from = 0
      const end = piece.lastIndexOf(newline) + 1
      if (end > 0) {
        waitedMs = 0
        if (rest.length > 0) {
          from = piece.indexOf(newline) + 1
          yield Buffer.concat([...rest, piece.subarray(0, from)])
          rest = []
          restBytes = 0
        }
      }
      if (end > from) yield piece.subarray(from, end)
      if (end < piece.length) {
        rest.push(piece.subarray(end))
        restBytes += piece.length - end
      }
      if (restBytes > maxLineBytes) throw new Error(`a line is longer than ${maxLineBytes} bytes`)
      if (waitedMs > maxLineMs) throw new Error(`no whole line within ${maxLineMs} ms`)
    }
    if (rest.length > 0) yield Buffer.concat(rest)
  } finally {
    await pieces.return(undefined)
  }
}

/** The complete lines of a stream, one at a time: nothing is read from the connection ahead of the reader's needs. */
export class Lines {
  readonly #pieces: AsyncIterator<Buffer>
  #next: Promise<IteratorResult<Buffer>> | undefined
  /** Whole lines that were read, and where the next one begins. */
  #piece: Buffer = Buffer.alloc(0)
  #at = 0

  constructor(private readonly body: Readable) {
    this.#pieces = wholeLines(body)
  }

  /**
   * The next line; 'end' when there is none; 'later' when none came within `waitMs`, which loses nothing. Rejects as
   * `wholeLines` does.
   */
  async read(waitMs: number): Promise<Buffer | 'end' | 'later'> {
    if (this.#at >= this.#piece.length) {
      this.#next ??= this.#pieces.next()
      const read = await within(this.#next, waitMs)
      if (read === 'later') return 'later'
      this.#next = undefined
      if (read.done) return 'end'
      this.#piece = read.value
      this.#at = 0
    }
    const found = this.#piece.indexOf(newline, this.#at)
    const end = found < 0 ? this.#piece.length : found
    const line = this.#piece.subarray(this.#at, end)
    this.#at = end + 1
    return line
  }

  close(): void {
    this.body.on('error', () => {}) // of a stream that is no longer read
    this.#next?.catch(() => {})
    this.body.destroy()
  }
}

async function within<T>(promise: Promise<T>, ms: number): Promise<T | 'later'> {
  const stop = new AbortController()
  try {
    return await Promise.race([
      promise,
      delay(Math.min(Math.max(ms, 0), maxWaitMs), 'later' as const, { signal: stop.signal }),
    ])
  } finally {
    stop.abort()
  }
}
