import type { ClientRateLimitInfo, Store } from 'express-rate-limit'
import { CountedWindow, type Limits, minuteMs, nextUtcMidnight } from './window.ts'
import { Windows } from './windows.ts'

/** Clients counted at once; about 200 bytes each. */
const maxClients = 500_000

interface Client {
  readonly minuteHits: number
  readonly minuteEndsAt: number
  /** Hits of the UTC day, and its end. */
  readonly hits: number
  readonly dayEndsAt: number
  /** End of both. */
  readonly endsAt: number
}

/** Rate limit store in memory, for an installation of a single process: counts end with it, and are not shared. */
export class MemoryStore implements Store {
  readonly #clients = new Windows<Client>(maxClients)
  readonly #limits: Limits
  readonly #now: () => number
  readonly localKeys = true

  constructor(limits: Limits, now: () => number) {
    this.#limits = limits
    this.#now = now
  }

  increment(key: string): ClientRateLimitInfo {
    const now = this.#now()
    const known = this.#clients.find(key, now)
    const day = known && known.dayEndsAt > now ? known : { hits: 0, dayEndsAt: nextUtcMidnight(now) }
    const minute = known && known.minuteEndsAt > now ? known : { minuteHits: 0, minuteEndsAt: now + minuteMs }
    const minuteHits = minute.minuteHits + 1
    const passes = minuteHits <= this.#limits.perMinute
    const hits = passes ? day.hits + 1 : day.hits
    const { minuteEndsAt } = minute
    const { dayEndsAt } = day
    const endsAt = Math.max(minuteEndsAt, dayEndsAt) // a minute may begin before midnight and end behind it
    this.#clients.keep(key, { minuteHits, minuteEndsAt, hits, dayEndsAt, endsAt }, now)
    return { totalHits: minuteHits, resetTime: new CountedWindow(minuteEndsAt, passes ? hits : 0) }
  }

  decrement() {}

  resetKey(key: string) {
    this.#clients.drop(key)
  }
}
