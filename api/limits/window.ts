export interface Limits {
  readonly perMinute: number
  /** Of a UTC day. */
  readonly perDay: number
}

export const minuteMs = 60_000
const dayMs = 86_400_000
export const daySeconds = dayMs / 1_000

/** `2026-11-20` */
export const utcDay = (now: number) => new Date(now).toISOString().slice(0, 10)
export const lastUtcMidnight = (now: number) => Math.floor(now / dayMs) * dayMs
export const nextUtcMidnight = (now: number) => (Math.floor(now / dayMs) + 1) * dayMs

/**
 * The end of a client's minute, and what the same step counted for its day. express-rate-limit knows one window and
 * hands the end of it through as it is, so the other window travels with it.
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
