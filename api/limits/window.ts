import { AsyncLocalStorage } from 'node:async_hooks'
import type { ClientRateLimitInfo, Store } from 'express-rate-limit'

export interface Limits {
  readonly perMinute: number
  /** Of a UTC day. */
  readonly perDay: number
}

export const minuteMs = 60_000
export const dayMs = 86_400_000

/** `2026-11-20` */
export const utcDay = (now: number) => new Date(now).toISOString().slice(0, 10)
export const nextUtcMidnight = (now: number) => (Math.floor(now / dayMs) + 1) * dayMs

/** One metered request: counted in both windows at once, judged by one limiter after the other. */
interface Metered {
  readonly client: string
  /** Hits of the day, this one included; 0 when the minute refused it. */
  day: number
}

export const metered = new AsyncLocalStorage<Metered>()

/** The request being limited. */
export function currentRequest(): Metered {
  const request = metered.getStore()
  if (!request) throw new Error('a request is counted outside of the limiter')
  return request
}

/** Counts nothing: tells the second limiter what the store of the first has counted in the same step. */
export class DayStore implements Store {
  readonly #now: () => number
  readonly localKeys = false

  constructor(now: () => number) {
    this.#now = now
  }

  increment(): ClientRateLimitInfo {
    return { totalHits: currentRequest().day, resetTime: new Date(nextUtcMidnight(this.#now())) }
  }

  decrement() {}

  resetKey() {}
}
