import { LRUCache } from 'lru-cache'

/** What can be kept: it knows its own size, which may grow. */
interface Sized {
  readonly bytes: number
}

export interface CacheAnswer<V> {
  /** Undefined: there is no such thing, which is cached like a value. */
  readonly value: V | undefined
  /** True when it was made for an earlier request. */
  readonly hit: boolean
  /** Whole seconds since it was made; 0 if it was made for this request. */
  readonly ageSeconds: number
}

/** Bounds of the cache of answers and of that of totals, in bytes. */
export const cacheBytes = { answers: 128 * 1024 * 1024, totals: 4 * 1024 * 1024 }

interface CacheOptions {
  /** Bound on the bytes of all entries together. */
  readonly maxBytes: number
  /** Current time, in milliseconds since the epoch. */
  readonly now: () => number
}

/** The one agent or address that an entry is about; neither: it is about many. */
export interface Subject {
  readonly fid?: unknown
  readonly address?: unknown
}

/** Bytes an entry takes besides its value and the characters of its key. */
const entryOverheadBytes = 1_024

/**
 * An LRU cache in this process; each read says for how long its value is fresh. Loads are single flight: readers of a
 * key that is being loaded wait for that load. A failed load rejects for all of them and is not kept.
 */
export class Cache<V extends Sized> {
  readonly #entries: LRUCache<string, Made<V>, Loading<V>>
  /** Subjects of the entries that are still loading, by key. */
  readonly #loading = new Map<string, Subject>()
  readonly #now: () => number

  constructor({ maxBytes, now }: CacheOptions) {
    this.#now = now
    this.#entries = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ value }, key) => entryOverheadBytes + key.length + (value?.bytes ?? 0),
      perf: { now },
      ttlResolution: 0,
      // An entry that was evicted while loading still answers those who wait for it, but nobody after them.
      ignoreFetchAbort: true,
      fetchMethod: (key, _stale, { context }) => this.#load(key, context),
    })
  }

  async get(
    key: string,
    freshMs: number,
    load: () => Promise<V | undefined>,
    subject: Subject = {},
  ): Promise<CacheAnswer<V>> {
    const status: LRUCache.Status<string, Made<V>, Loading<V>> = {}
    const context = { load, subject }
    const ttl = freshMs - 1 // the library's entries are fresh in their last millisecond too
    const { value, storedAt } = await this.#entries.forceFetch(key, { ttl, context, status })
    const hit = status.fetch === 'hit'
    return { value, hit, ageSeconds: hit ? Math.max(0, Math.floor((this.#now() - storedAt) / 1_000)) : 0 }
  }

  /** Counts an entry's bytes again, after its value grew, and makes room. */
  measure(key: string): void {
    const made = this.#entries.peek(key)
    if (made) this.#entries.set(key, { ...made }, { noUpdateTTL: true })
  }

  /** Evicts the entries about many subjects, and those about one that `isTouched` accepts; loading ones too. */
  evict(isTouched: (subject: Subject) => boolean): void {
    const entries = [
      ...this.#loading,
      ...[...this.#entries.entries()].map(([key, { subject }]) => [key, subject] as const),
    ]
    for (const [key, subject] of entries) {
      const isAboutMany = subject.fid === undefined && subject.address === undefined
      if (isAboutMany || isTouched(subject)) this.#entries.delete(key)
    }
  }

  get bytes(): number {
    return this.#entries.calculatedSize
  }

  get size(): number {
    return this.#entries.size
  }

  async #load(key: string, { load, subject }: Loading<V>): Promise<Made<V>> {
    this.#loading.set(key, subject)
    try {
      return { value: await load(), storedAt: this.#now(), subject }
    } finally {
      this.#loading.delete(key)
    }
  }
}

interface Made<V> {
  readonly value: V | undefined
  /** Milliseconds since the epoch. */
  readonly storedAt: number
  readonly subject: Subject
}

interface Loading<V> {
  readonly load: () => Promise<V | undefined>
  readonly subject: Subject
}
