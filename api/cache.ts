import type { Content } from './content.ts'

export interface CacheAnswer {
  /** Undefined: there is no such thing; remembered like content. */
  readonly content: Content | undefined
  /** True when the entry was made for an earlier request. */
  readonly hit: boolean
  /** Whole seconds since it was made. */
  readonly ageSeconds: number
}

export interface CacheOptions {
  /** All entries together, encodings included. */
  readonly maxBytes: number
  readonly now?: () => number
}

/** What an entry costs besides its bodies: key, map slot, objects. */
const entryOverheadBytes = 1_024

/**
 * Answers by key for a while, in this process. One load at a time for a key: those who ask meanwhile wait for it.
 * A failed load is told to all of them and not kept. The least recently used entries leave first.
 */
export class Cache {
  readonly #entries = new Map<string, Entry>()
  readonly #maxBytes: number
  readonly #now: () => number
  #bytes = 0

  constructor({ maxBytes, now = Date.now }: CacheOptions) {
    this.#maxBytes = maxBytes
    this.#now = now
  }

  async get(key: string, freshMs: number, load: () => Promise<Content | undefined>): Promise<CacheAnswer> {
    const known = this.#entries.get(key)
    if (known && (known.made === undefined || this.#now() - known.made.storedAt < freshMs)) {
      this.#entries.delete(key) // the youngest end of the map is the one used last
      this.#entries.set(key, known)
      if (!known.made) return fresh(await known.making)
      const { content, storedAt } = known.made
      return { content, hit: true, ageSeconds: Math.max(0, Math.floor((this.#now() - storedAt) / 1_000)) }
    }
    if (known) this.#remove(key, known)
    const entry: Entry = { making: this.#load(load), made: undefined, bytes: entryOverheadBytes }
    this.#entries.set(key, entry)
    this.#bytes += entry.bytes
    try {
      const made = await entry.making
      entry.made = made
      this.measure(key)
      return fresh(made)
    } catch (error) {
      if (this.#entries.get(key) === entry) this.#remove(key, entry)
      throw error
    }
  }

  /** Counts an entry's bytes again, after an encoding was added to it, and makes room. */
  measure(key: string): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    const bytes = entryOverheadBytes + key.length + (entry.made?.content?.bytes ?? 0)
    this.#bytes += bytes - entry.bytes
    entry.bytes = bytes
    for (const [oldest, value] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break
      if (value.made) this.#remove(oldest, value)
    }
  }

  get bytes(): number {
    return this.#bytes
  }

  get size(): number {
    return this.#entries.size
  }

  async #load(load: () => Promise<Content | undefined>): Promise<Made> {
    const content = await load()
    return { content, storedAt: this.#now() }
  }

  #remove(key: string, entry: Entry) {
    this.#entries.delete(key)
    this.#bytes -= entry.bytes
  }
}

interface Made {
  readonly content: Content | undefined
  /** Milliseconds since the epoch. */
  readonly storedAt: number
}

interface Entry {
  readonly making: Promise<Made>
  made: Made | undefined
  bytes: number
}

const fresh = ({ content }: Made): CacheAnswer => ({ content, hit: false, ageSeconds: 0 })
