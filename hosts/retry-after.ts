import { hour, minute, second } from '../ops/time.ts'

/** Pause in milliseconds after a host rate-limits without saying for how long. */
export const unnamedRestMs = minute
/** The same for hosts of the social network. */
export const unnamedSocialRestMs = 30 * second
/** Bounds of the pause that a host can ask for, in milliseconds. */
export const shortestRestMs = second
const longestRestMs = hour

/** Milliseconds that a Retry-After header asks for, within the bounds; undefined: as for `readRetryAfter`. */
export function retryAfterMs(header: string | undefined, now: Date): number | undefined {
  const ms = readRetryAfter(header, now.getTime())
  return ms === undefined ? undefined : bearableRest(ms)
}

/** A pause in milliseconds, within the bounds. */
export function bearableRest(ms: number): number {
  return Math.min(longestRestMs, Math.max(shortestRestMs, ms))
}

/**
 * Milliseconds that a Retry-After header asks for, never less than 0; undefined: there is none, or it is neither seconds
 * nor a date. Some servers send fractions of a second. Source: RFC 9110 10.2.3.
 */
export function readRetryAfter(header: string | undefined, now = Date.now()): number | undefined {
  const text = header?.trim()
  if (!text) return undefined
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined
}
