import { type Html, html } from './html.ts'

const options = { timeZone: 'UTC', day: 'numeric', month: 'short', year: 'numeric' } as const
const dayFormat = new Intl.DateTimeFormat('en-GB', options)
const minuteFormat = new Intl.DateTimeFormat('en-GB', { ...options, hour: '2-digit', minute: '2-digit' })

const monthFormat = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', month: 'short', year: 'numeric' })

/** Name of a day or month from its start or any time in it: 3 Mar 2026, Mar 2026. */
export const dayName = (time: string) => dayFormat.format(new Date(time))
export const monthName = (time: string) => monthFormat.format(new Date(time))

/** 3 Mar 2026, with the exact time as a tooltip; a dash for null. */
export function day(time: string | null): Html {
  return moment(time, (date) => dayFormat.format(date), 'day')
}

/** since 3 Mar 2026, until 5 Mar 2026, or both days; null: not known when it began, or not ended. */
export function period(from: string | null, to: string | null): Html {
  if (to === null) return from === null ? html`now` : html`since ${day(from)}`
  return from === null ? html`until ${day(to)}` : html`${day(from)} to ${day(to)}`
}

/** 3 Mar 2026, 11:08 (UTC). */
export function minute(time: string | null): Html {
  return moment(time, (date) => minuteFormat.format(date), 'minute')
}

/** How long ago: 5 min ago, 3 days ago. */
export function ago(time: string | null, now: number): Html {
  return moment(time, (date) => {
    const seconds = Math.max(0, (now - date.getTime()) / 1_000)
    return seconds < 60 ? 'just now' : `${duration(seconds)} ago`
  })
}

/** Seconds as their largest whole unit: 42 s, 5 min, 3 h, 2 days. */
export function duration(seconds: number): string {
  const [unitSeconds, unit] = units.find(([length]) => seconds >= length) ?? [1, 's']
  const amount = Math.floor(seconds / unitSeconds)
  return unit === 'day' ? `${amount} ${amount === 1 ? 'day' : 'days'}` : `${amount} ${unit}`
}

const units = [
  [86_400, 'day'],
  [3_600, 'h'],
  [60, 'min'],
] as const

/** A `time` element. `form`: how a script formats one that it adds; undefined: it stays as written. */
function moment(time: string | null, write: (date: Date) => string, form?: 'day' | 'minute'): Html {
  if (time === null) return html`<span class="none">–</span>`
  const date = new Date(time)
  return html`<time datetime="${time}" title="${time}"${form && html` class="${form}"`}>${write(date)}</time>`
}
