import { isDay } from '../../ops/time.ts'

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
