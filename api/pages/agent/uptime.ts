import type { z } from 'zod'
import type { agentUptime } from '../../schemas/documents/enriched.ts'
import type { Exact } from '../parts/exact-json.ts'
import { counted } from '../parts/figures.ts'
import { html } from '../parts/html.ts'
import { dayName } from '../parts/times.ts'

export type Uptime = Exact<z.output<typeof agentUptime>>
type Day = Uptime['documents'][number]['days'][number]

// Units of the drawing. Each day is a bar; its height is the share of the day's checks that found the document alive.
const barWidth = 8
const gap = 2
const height = 24
/** Heights of a day on which every check failed, and of a day without a check. */
const low = 5
const unseen = 1
/** Most failing days named in the text alternative of the strip; the JSON has all days. */
const mostNamed = 10

/** A document's last days as bars, with the shares in words; null when it was never checked in those days. */
export function uptimeStrip(uptime: Uptime | undefined, document: { kind: string; url: string }, id: string) {
  const watched = uptime?.documents.find(({ kind, url }) => kind === document.kind && url === document.url)
  if (!watched?.days.some(({ checks }) => checks > 0)) return null
  const { days, uptime_7d: week, uptime_30d: month } = watched
  const shares = [
    ...(week === null ? [] : [`${percent(week)} of checks in 7 days`]),
    ...(month === null ? [] : [`${percent(month)}${week === null ? ' of checks' : ''} in 30 days`]),
  ]
  return html`<div class="uptime"><svg viewBox="0 0 ${days.length * barWidth} ${height}" role="img" aria-labelledby="${id}-title ${id}-text" preserveAspectRatio="none"><title id="${id}-title">Checks of the last ${counted(days.length, 'day')}</title><desc id="${id}-text">${inWords(days)}</desc>${kinds.map((kind) => drawn(kind, days))}</svg>
<p class="sub">${shares.length > 0 ? `alive in ${shares.join(', ')}` : 'too few checks yet for a share'}</p></div>`
}

const kinds = ['well', 'partly', 'ill', 'unseen'] as const
type Kind = (typeof kinds)[number]

function kindOf({ checks, alive }: Day): Kind {
  if (checks === 0) return 'unseen'
  return alive === checks ? 'well' : alive === 0 ? 'ill' : 'partly'
}

/** All bars of one kind as one SVG path; false when there is none. */
function drawn(kind: Kind, days: readonly Day[]) {
  const bars = days.map((day, index) => {
    if (kindOf(day) !== kind) return ''
    const { checks, alive } = day
    const tall = checks === 0 ? unseen : low + Math.round((alive / checks) * (height - low))
    return `M${index * barWidth} ${height}v-${tall}h${barWidth - gap}v${tall}z`
  })
  const path = bars.join('')
  return path !== '' && html`<path class="${kind}" d="${path}"/>`
}

function inWords(days: readonly Day[]): string {
  const seen = days.filter(({ checks }) => checks > 0)
  const failing = seen.filter(({ checks, alive }) => alive < checks)
  const whole = `It was looked at on ${counted(seen.length, 'day')}`
  if (failing.length === 0) return `${whole} and was always alive.`
  const named = failing.slice(-mostNamed).map(told).join('; ')
  return `${whole} and did not always answer on ${counted(failing.length, 'of them', 'of them')}: ${named}.`
}

const told = ({ start, checks, alive }: Day) =>
  `${dayName(start)}, ${alive} of ${counted(checks, 'check')} found it alive`

/** A share as a percentage with one decimal, rounded down, so that 100% means it never failed. */
const percent = (share: number) => `${Math.floor(share * 1_000 + 1e-6) / 10}%`
