import type { z } from 'zod'
import { type ChainName, chainNames, chainOf } from '../../../config/chains.ts'
import { day } from '../../../ops/time.ts'
import { chainsParameter, wordParameter } from '../../http/parameters.ts'
import type { Route } from '../../http/route.ts'
import type { allSeries } from '../../schemas/settlements/timeseries.ts'
import { type Bar, chart } from './chart.ts'
import type { Exact } from './exact-json.ts'
import { cents, counted, figure, shortDollars } from './figures.ts'
import { type Html, html } from './html.ts'
import { dayName, monthName } from './times.ts'

/** Settlements over time, as the timeseries routes answer. */
export type Series = Exact<z.output<typeof allSeries>>

/** Ranges of time that a chart offers, with the interval of its points; `days` null: all time. */
const ranges = {
  '7d': { name: '7 days', interval: 'day', days: 7 },
  '30d': { name: '30 days', interval: 'day', days: 30 },
  '90d': { name: '90 days', interval: 'day', days: 90 },
  all: { name: 'All time', interval: 'month', days: null },
} as const
type Range = keyof typeof ranges

/** Query parameters of a page with a chart over time. */
export const seriesParameters = {
  range: wordParameter(Object.keys(ranges) as Range[], '30d', 'The time that is shown.'),
  chain: chainsParameter,
}

export interface Asked {
  readonly range: Range
  readonly chain: readonly ChainName[] | null
}

/** Start of `all`: before the first EIP-3009 authorization on any chain. */
const beginning = '2020-08-01T00:00:00.000Z'

/** Interval, start (ISO 8601) and chains of a range that ends now. */
function rangeOf({ range, chain }: Asked, now: number) {
  const { interval, days } = ranges[range]
  const today = Math.floor(now / day) * day
  return { interval, since: days === null ? beginning : new Date(today - (days - 1) * day).toISOString(), chain }
}

/** Input of a timeseries route for a range that ends now. */
export function seriesInput(route: Route, asked: Asked, now: number): Record<string, unknown> {
  const { interval, since, chain } = rangeOf(asked, now)
  return { ...route.query.parse({ interval, since }), chain }
}

/** Links to the other ranges and chains of a page; `path` is the page, `anchor` where the chart is on it. */
export function seriesChoice(path: string, { range, chain }: Asked, anchor: string, more: Pairs = []): Html {
  const chip = (name: string, chosen: boolean, target: Asked) =>
    html`<li><a class="chip" href="${seriesPath(path, target, more)}#${anchor}"${chosen && html` aria-current="true"`}>${name}</a></li>`
  return html`<nav class="filters" aria-label="Time and chain"><div class="group"><ul aria-label="Time">${Object.entries(
    ranges,
  ).map(([word, { name }]) => chip(name, word === range, { range: word as Range, chain }))}</ul></div>
<div class="group"><ul aria-label="Chain">${chip('All chains', chain === null, { range, chain: null })}${chainNames.map(
    (name) => chip(chainOf(name).label, chain?.length === 1 && chain[0] === name, { range, chain: [name] }),
  )}</ul></div></nav>`
}

type Pairs = readonly (readonly [string, string])[]

/** Query parameters for self-payments; empty for the default, `without`. */
export const ownPayments = (self: 'without' | 'with'): Pairs => (self === 'without' ? [] : [['self', self]])

/** Path of a page with a range and chains in its query; defaults are left out. */
export function seriesPath(path: string, { range, chain }: Asked, more: Pairs = []) {
  const pairs = [
    ...(range === '30d' ? [] : [['range', range] as const]),
    ...(chain ?? []).map((name) => ['chain', chainOf(name).label] as const),
    ...more,
  ]
  const query = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, value])).toString()
  return query === '' ? path : `${path}?${query}`
}

/** Chart of dollars over time; each bar's tooltip has the number of settlements and of payers. */
export function seriesChart(id: string, series: Pick<Series, 'interval' | 'points'>): Html {
  const { interval } = series
  const counts = series.points.map(({ settlements }) => settlements)
  const points = series.points.slice(firstShown(interval, counts))
  const bars = points.map(({ start, settlements, amount_usdc, unique_payers }): Bar => {
    const payers = unique_payers === null ? [] : [counted(unique_payers, 'payer')]
    return {
      name: bucketName(interval, start),
      value: settlements === 0 ? 0 : Math.max(Number(amount_usdc), Number.MIN_VALUE),
      cells: [{ usd: amount_usdc }, counted(settlements, 'settlement'), ...payers],
    }
  })
  const { volume, count } = totalOf(series)
  return chart({
    id,
    title: 'Volume over time',
    summary: `${cents(volume)} in ${counted(count, 'settlement')} over ${figure(points.length)} ${interval}s, by ${interval}.`,
    columns: [
      interval === 'month' ? 'Month' : 'Day',
      'Volume',
      'Settlements',
      ...(points[0]?.unique_payers === null ? [] : ['Payers']),
    ],
    bars,
    scale: shortDollars,
    isLastPartial: true,
  })
}

/** Name of a bucket from its start: Mar 2026 for a month, 14 Mar 2026 for a day. */
export const bucketName = (interval: string, start: string) =>
  interval === 'month' ? monthName(start) : dayName(start)

/** Least number of months shown, so that a single bar does not fill the chart; earlier empty ones are left out. */
const fewest = 7
export function firstShown(interval: string, counts: readonly number[]): number {
  if (interval !== 'month') return 0
  const first = counts.findIndex((count) => count > 0)
  const newest = Math.max(0, counts.length - fewest)
  return Math.min(first < 0 ? newest : first, newest)
}

type Paid = Pick<Series['points'][number], 'settlements' | 'amount_usdc'>

/** Exact sums of a series: `volume` in dollars as text, `count` of settlements. */
export function totalOf({ points }: { readonly points: readonly Paid[] }): { volume: string; count: number } {
  let units = 0n
  let count = 0
  for (const { amount_usdc, settlements } of points) {
    const [whole = '0', decimals = ''] = amount_usdc.split('.')
    units += BigInt(whole + decimals.padEnd(6, '0'))
    count += settlements
  }
  const sign = units < 0n ? '-' : ''
  const size = units < 0n ? -units : units
  return { volume: `${sign}${size / 1_000_000n}.${String(size % 1_000_000n).padStart(6, '0')}`, count }
}
