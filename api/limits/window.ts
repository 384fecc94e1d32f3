import { day } from '../../ops/time.ts'

export interface Limits {
  readonly perMinute: number
  /** Requests of a client in a UTC day. */
  readonly perDay: number
}

export const minuteMs = 60_000
export const daySeconds = day / 1_000

/** The UTC day of a time in milliseconds, as `2026-11-20`. */
export const utcDay = (now: number) => new Date(now).toISOString().slice(0, 10)
export const lastUtcMidnight = (now: number) => Math.floor(now / day) * day
export const nextUtcMidnight = (now: number) => (Math.floor(now / day) + 1) * day

/**
 * The end of a client's minute, with the hits of its UTC day. express-rate-limit knows a single window and passes its
 * end through unchanged, so the count of the other window travels on it.
 */
export class CountedWindow extends Date {
  constructor(
    endsAt: number,
    /** Requests of the day, this one included; 0 when the minute refused it. */
    readonly dayHits: number,
  ) {
    super(endsAt)
  }
}
