import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { silenceMs } from './http.ts'

/** A block's line may be this long, in bytes; a longer one is no line of the Portal. */
const maxLineBytes = 64 * 1024 * 1024
/** Longer than the silence that ends a connection, so that waiting always ends. */
const maxPatienceMs = 2 * silenceMs
const newline = 0x0a

/** The complete lines of a stream, one at a time: nothing is read from the connection ahead of the reader's needs. */
export class Lines {
  readonly #pieces: AsyncIterator<Buffer>
  #next: Promise<IteratorResult<Buffer>> | undefined
  #rest: Buffer[] = []
  #ready: Buffer[] = []

  constructor(private readonly body: Readable) {
    this.#pieces = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  }

  /**
   * The next line; 'end' when there is none; 'later' when none came within `patienceMs`, which loses nothing.
   * Rejects when the connection breaks or falls silent. What stands behind the last line break is a line if the
   * stream ended there by itself; the reader finds out whether it is whole.
   */
  async read(patienceMs: number): Promise<Buffer | 'end' | 'later'> {
    for (const deadline = Date.now() + patienceMs; this.#ready.length === 0; ) {
      this.#next ??= this.#readPiece()
      const piece = await within(this.#next, deadline - Date.now())
      if (piece === 'later') return 'later'
      this.#next = undefined
      if (piece.done) return this.#last() ?? 'end'
      this.#split(piece.value)
    }
    return this.#ready.shift() as Buffer
  }

  close(): void {
    this.body.on('error', () => {}) // of a stream nobody reads any more
    this.#next?.catch(() => {})
    this.body.destroy()
  }

  async #readPiece(): Promise<IteratorResult<Buffer>> {
    const timer = setTimeout(() => {
      this.body.destroy(new Error(`no data within ${silenceMs} ms`))
    }, silenceMs)
    try {
      return await this.#pieces.next()
    } finally {
      clearTimeout(timer)
    }
  }

  #split(piece: Buffer) {
    let from = 0
    for (let at = piece.indexOf(newline); at >= 0; at = piece.indexOf(newline, from)) {
      this.#rest.push(piece.subarray(from, at))
      this.#ready.push(this.#takeRest())
      from = at + 1
    }
    this.#rest.push(piece.subarray(from))
    const length = this.#rest.reduce((sum, part) => sum + part.length, 0)
    if (length > maxLineBytes) throw new Error(`a line is longer than ${maxLineBytes} bytes`)
  }

  #last(): Buffer | undefined {
    const line = this.#takeRest()
    return line.length > 0 ? line : undefined
  }

  #takeRest(): Buffer {
    const line = this.#rest.length === 1 ? (this.#rest[0] as Buffer) : Buffer.concat(this.#rest)
    this.#rest = []
    return line
  }
}

async function within<T>(promise: Promise<T>, ms: number): Promise<T | 'later'> {
  const stop = new AbortController()
  try {
    return await Promise.race([
      promise,
      delay(Math.min(Math.max(ms, 0), maxPatienceMs), 'later' as const, { signal: stop.signal }),
    ])
  } finally {
    stop.abort()
  }
}
