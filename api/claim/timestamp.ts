const form = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?(?:Z|[+-](\d{2}):(\d{2}))$/

/**
 * Milliseconds since the epoch of an ISO 8601 time with a zone; undefined for everything else: a number, a date alone,
 * a day that does not exist. `Date.parse` alone would accept many of those.
 */
export function parseTimestamp(text: string): number | undefined {
  const match = form.exec(text)
  if (!match) return undefined
  const [year, month, day, hour, minute, second, zoneHour, zoneMinute] = match.slice(1).map((part) => Number(part ?? 0))
  const lastDay = new Date(Date.UTC(2000, month as number, 0)).setUTCFullYear(year as number, month as number, 0)
  const isReal =
    (month as number) >= 1 &&
    (month as number) <= 12 &&
    (day as number) >= 1 &&
    (day as number) <= new Date(lastDay).getUTCDate() &&
    (hour as number) <= 23 &&
    (minute as number) <= 59 &&
    (second as number) <= 59 &&
    (zoneHour as number) <= 14 &&
    (zoneMinute as number) <= 59
  if (!isReal) return undefined
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : time
}
