import { chainOf } from '../../../config/chains.ts'
import type { Earned } from '../../../db/queries/income/earned.ts'
import type { Profile, Settlement } from '../parts/exact-json.ts'
import { amount, counted, number } from '../parts/figures.ts'
import { type Html, html } from '../parts/html.ts'
import type { Names } from '../parts/names.ts'
import { type Asked, ownPayments, seriesChoice, seriesPath } from '../parts/series.ts'
import { settlementTable } from '../parts/settlement-table.ts'
import { dayName } from '../parts/times.ts'
import {
  type Income,
  type IncomeSeries,
  incomeChart,
  kindTable,
  paidIn,
  type Self,
  selfChoice,
  signs,
} from './income.ts'

interface Money {
  readonly settlements: readonly Settlement[]
  readonly names: Names
  /** Cursor of the next page; null: this is the last. */
  readonly next: string | null
  readonly income: Income | undefined
  readonly incomeSeries: IncomeSeries | undefined
  /** The figures of lists and rankings. Undefined: there are none yet, or it earned nothing. */
  readonly earned: Earned | undefined
  readonly asked: Asked
  readonly self: Self
  /** Cursor of the page that is shown; undefined: the first. */
  readonly after: string | undefined
}

/** Section on what the agent was paid: one figure of every kind of payment, its chart, its kinds; then the settlements. */
export function money(agent: Profile, shown: Money): Html {
  const { asked, settlements, next, after, income, incomeSeries, self } = shown
  const own = ownPayments(self)
  const path = `/agent/${agent.fid}`
  const isEarning = income !== undefined && income.raw.payments > 0
  if (!isEarning && settlements.length === 0 && asked.chain === null) {
    return html`<section aria-labelledby="money"><h2 id="money">What it earned</h2>
<p class="empty">No gasless USDC payment has reached a verified address of this agent yet.</p></section>`
  }
  return html`<section aria-labelledby="money"><h2 id="money">What it earned</h2>
${isEarning && incomeSeries ? sums(agent.fid, income, incomeSeries, shown) : settlements.length > 0 && html`<p class="sub">What is listed here is summed up as soon as its blocks are final.</p>`}
<h3 id="settlements">${after === undefined ? 'Newest settlements' : 'Older settlements'}</h3>
${settlements.length === 0 ? html`<p class="empty">No gasless USDC settlement ${where(asked)}is known.${asked.chain !== null && html` <a href="${seriesPath(path, { ...asked, chain: null }, own)}#settlements">Look at all chains</a>`}</p>` : settlementTable('Settlements', settlements, agent.verified_addresses, shown.names)}
<nav class="pager" aria-label="Settlements">${
    after !== undefined && html`<a class="button" href="${seriesPath(path, asked, own)}#settlements">← Newest</a>`
  }${
    next !== null &&
    html`<a class="button" rel="next" href="${seriesPath(path, asked, [...own, ['after', next]])}#settlements">Older →</a>`
  }</nav></section>`
}

function sums(fid: number, income: Income, series: IncomeSeries, { asked, self, earned }: Money): Html {
  const isFiltered = self === 'without'
  const ever = isFiltered ? income.filtered : income.raw
  const payers = isFiltered ? income.payers?.filtered : income.payers?.raw
  const where = asked.chain === null ? '' : ` on ${asked.chain.map((name) => chainOf(name).label).join(', ')}`
  // Lists count 30 days to the hour. Other sums are of the chart's whole days, so they are told by the day they begin.
  const listed = isFiltered && asked.range === '30d' && asked.chain === null ? earned : undefined
  const { amount_usdc, payments } = listed
    ? { amount_usdc: listed.last30d, payments: listed.payments30d }
    : paidIn(series, isFiltered)
  const time = listed
    ? 'in 30 days'
    : asked.range === 'all' || series.since === null
      ? 'of all time'
      : `since ${dayName(series.since)}`
  const facts: [string, Html][] = [
    ...(asked.range === 'all' && where === ''
      ? []
      : ([
          [`earned ${time}${where}`, amount(amount_usdc)],
          [`${payments === 1 ? 'payment' : 'payments'} ${time}${where}`, number(payments)],
        ] as [string, Html][])),
    ['earned of all time', amount(ever.amount_usdc)],
    [
      `${ever.payments === 1 ? 'payment' : 'payments'} of all time${payers ? `, from ${counted(payers, 'payer')}` : ''}`,
      number(ever.payments),
    ],
  ]
  return html`<dl class="numbers small">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${selfChoice(fid, asked, self)}${seriesChoice(`/agent/${fid}`, asked, 'money', ownPayments(self))}
<p class="sub">Payments of every kind, in final blocks, ${isFiltered ? 'without what it paid itself' : 'with what it paid itself'}. <a href="/api/agent/${fid}/income">As JSON</a>, or <a href="/api/agent/${fid}/income.csv">each payment as CSV</a></p>
${incomeChart(series, isFiltered)}
${kindTable(income, isFiltered)}
${signs(income)}`
}

/** The chains that were asked for, as words before `is known`. */
const where = ({ chain }: Asked) =>
  chain === null ? '' : `on ${chain.map((name) => chainOf(name).label).join(', ') || 'such a chain'} `
