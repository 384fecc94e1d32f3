/** How long to wait after failures in a row. */
export interface Backoff {
  readonly baseMs: number
  readonly capMs: number
}

/** A number from 0 to below 1, as Math.random. */
export type Random = () => number

/**
 * Milliseconds to wait before the next attempt, after `failures` in a row (0: the first has just happened). Any time up to
 * the limit, so that subjects that failed together do not come back together.
 */
export function backoffMs({ baseMs, capMs }: Backoff, failures: number, random: Random): number {
  return Math.ceil(Math.min(capMs, baseMs * 2 ** Math.min(failures, 30)) * random())
}

/** The time give or take a tenth: what was read together need not be read together for ever. */
export function jittered(ms: number, random: Random): number {
  return Math.round(ms * (0.9 + 0.2 * random()))
}
