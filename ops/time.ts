// Durations in milliseconds.

export const second = 1_000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

/** Whether a text `YYYY-MM-DD` is a day of the calendar; `Date.parse` reads the 30th of February as the 2nd of March. */
export function isDay(text: string): boolean {
  const ms = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(`${text}T`)
}

/** Limits of an exponential backoff: `baseMs` before the first retry, doubled with each failure, at most `capMs`. */
export interface Backoff {
  readonly baseMs: number
  readonly capMs: number
}

/** A number from 0 to below 1, as Math.random. */
export type Random = () => number

/** Milliseconds before the next attempt. `failures`: failures in a row before the latest one (0: the latest was the first). */
export function doubledMs({ baseMs, capMs }: Backoff, failures: number): number {
  return Math.min(capMs, baseMs * 2 ** Math.min(failures, 30))
}

/** The same with full jitter, which keeps subjects that failed together from coming back together. */
export function backoffMs(limits: Backoff, failures: number, random: Random): number {
  return Math.ceil(doubledMs(limits, failures) * random())
}

/** `ms` give or take a tenth at random, so that subjects read together drift apart. */
export function jittered(ms: number, random: Random): number {
  return Math.round(ms * (0.9 + 0.2 * random()))
}
