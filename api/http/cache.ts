/** What can be kept: it knows its own size, which may grow. */
export interface Sized {
  readonly bytes: number
}

export interface CacheAnswer<V> {
  /** Undefined: there is no such thing; remembered like a value. */
  readonly value: V | undefined
  /** True when it was made for an earlier request. */
  readonly hit: boolean
  /** Whole seconds since it was made. */
  readonly ageSeconds: number
}

export interface CacheOptions {
  /** All entries together. */
  readonly maxBytes: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** What an entry costs besides its value: key, map slot, objects. */
const entryOverheadBytes = 1_024

/**
 * Values by key for a while, in this process. One load at a time for a key: those who ask meanwhile wait for it.
 * A failed load is told to all of them and not kept. The least recently used entries leave first.
 */
export class Cache<V extends Sized> {
  readonly #entries = new Map<string, Entry<V>>()
  readonly #maxBytes: number
  readonly #now: () => number
  #bytes = 0

  constructor({ maxBytes, now }: CacheOptions) {
    this.#maxBytes = maxBytes
    this.#now = now
  }

  async get(key: string, freshMs: number, load: () => Promise<V | undefined>): Promise<CacheAnswer<V>> {
    const known = this.#entries.get(key)
    if (known && (known.made === undefined || this.#now() - known.made.storedAt < freshMs)) {
      this.#entries.delete(key) // the youngest end of the map is the one used last
      this.#entries.set(key, known)
      if (!known.made) return { value: (await known.making).value, hit: false, ageSeconds: 0 }
      const { value, storedAt } = known.made
      return { value, hit: true, ageSeconds: Math.max(0, Math.floor((this.#now() - storedAt) / 1_000)) }
    }
    if (known) this.#remove(key, known)
    const entry: Entry<V> = { making: this.#load(load), made: undefined, bytes: entryOverheadBytes }
    this.#entries.set(key, entry)
    this.#bytes += entry.bytes
    try {
      entry.made = await entry.making
      this.measure(key)
      return { value: entry.made.value, hit: false, ageSeconds: 0 }
    } catch (error) {
      if (this.#entries.get(key) === entry) this.#remove(key, entry)
      throw error
    }
  }

  /** Counts an entry's bytes again, after its value grew, and makes room. */
  measure(key: string): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    const bytes = entryOverheadBytes + key.length + (entry.made?.value?.bytes ?? 0)
    this.#bytes += bytes - entry.bytes
    entry.bytes = bytes
    for (const [oldest, candidate] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break
      if (candidate.made) this.#remove(oldest, candidate)
    }
  }

  /** Forgets everything; what is being loaded answers those who wait for it and nobody after them. */
  clear(): void {
    this.#entries.clear()
    this.#bytes = 0
  }

  get bytes(): number {
    return this.#bytes
  }

  get size(): number {
    return this.#entries.size
  }

  async #load(load: () => Promise<V | undefined>): Promise<Made<V>> {
    const value = await load()
    return { value, storedAt: this.#now() }
  }

  #remove(key: string, entry: Entry<V>) {
    this.#entries.delete(key)
    this.#bytes -= entry.bytes
  }
}

interface Made<V> {
  readonly value: V | undefined
  /** Milliseconds since the epoch. */
  readonly storedAt: number
}

interface Entry<V> {
  readonly making: Promise<Made<V>>
  made: Made<V> | undefined
  bytes: number
}
