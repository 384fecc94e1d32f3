import { z } from 'zod'
import { isDay } from '../../ops/time.ts'
import { ApiError } from '../http/errors.ts'

const form = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?(?:Z|[+-](\d{2}):(\d{2}))$/

/**
 * Milliseconds since the epoch of an ISO 8601 time with a zone; undefined for everything else: a number, a date alone,
 * a day that does not exist. `Date.parse` alone would accept many of those.
 */
export function parseTimestamp(text: string): number | undefined {
  const [, date = '', ...parts] = form.exec(text) ?? []
  const [hour = 0, minute = 0, second = 0, zoneHour = 0, zoneMinute = 0] = parts.map((part) => Number(part ?? 0))
  const isReal = isDay(date) && hour <= 23 && minute <= 59 && second <= 59 && zoneHour <= 14 && zoneMinute <= 59
  if (!isReal) return undefined
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : time
}

export const timestampText = z
  .string('must be a string')
  .refine(
    (text) => parseTimestamp(text) !== undefined,
    'must be ISO 8601 with a zone, such as 2026-11-20T04:00:00.000Z',
  )

/** Throws ERR_SIG_EXPIRED when a signed time is more than `windowSeconds` ago or ahead; `now`: milliseconds since the epoch. */
export function checkWindow(
  timestamp: string,
  { windowSeconds, now }: { readonly windowSeconds: number; readonly now: () => number },
): void {
  const time = now()
  const apart = Math.abs(time - (parseTimestamp(timestamp) as number))
  if (apart <= windowSeconds * 1_000) return
  throw new ApiError('ERR_SIG_EXPIRED', `the timestamp must lie within ${windowSeconds} seconds of the server's time`, {
    timestamp,
    server_time: new Date(time).toISOString(),
    window_seconds: windowSeconds,
  })
}
