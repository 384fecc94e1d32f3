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
