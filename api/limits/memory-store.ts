import type { ClientRateLimitInfo, Store } from 'express-rate-limit'
import { CountedWindow, type Limits, minuteMs, nextUtcMidnight } from './window.ts'

/** Clients counted at once; beyond, the least recently seen one is evicted and starts again. About 150 bytes each. */
const maxClients = 500_000

interface Client {
  minuteHits: number
  minuteEndsAt: number
  dayHits: number
  dayEndsAt: number
}

/** Rate limit store in memory, for an installation of a single process: counts end with it, and are not shared. */
export class MemoryStore implements Store {
  readonly #clients = new Map<string, Client>()
  readonly #limits: Limits
  readonly #now: () => number
  readonly localKeys = true

  constructor(limits: Limits, now: () => number) {
    this.#limits = limits
    this.#now = now
  }

  increment(key: string): ClientRateLimitInfo {
    const now = this.#now()
    const client = this.#clients.get(key) ?? { minuteHits: 0, minuteEndsAt: 0, dayHits: 0, dayEndsAt: 0 }
    if (client.minuteEndsAt <= now) Object.assign(client, { minuteHits: 0, minuteEndsAt: now + minuteMs })
    if (client.dayEndsAt <= now) Object.assign(client, { dayHits: 0, dayEndsAt: nextUtcMidnight(now) })
    client.minuteHits += 1
    const passes = client.minuteHits <= this.#limits.perMinute
    if (passes) client.dayHits += 1
    this.#remember(key, client)
    const resetTime = new CountedWindow(client.minuteEndsAt, passes ? client.dayHits : 0)
    return { totalHits: client.minuteHits, resetTime }
  }

  decrement() {}

  resetKey(key: string) {
    this.#clients.delete(key)
  }

  #remember(key: string, client: Client) {
    this.#clients.delete(key) // the youngest end of the map is the one seen last
    this.#clients.set(key, client)
    if (this.#clients.size <= maxClients) return
    const [oldest] = this.#clients.keys()
    if (oldest !== undefined) this.#clients.delete(oldest)
  }
}
