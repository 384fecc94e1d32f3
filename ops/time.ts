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
