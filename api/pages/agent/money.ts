import { chainOf } from '../../../chains.config.ts'
import type { Profile, Settlement } from '../parts/answers.ts'
import { amount, counted, number } from '../parts/figures.ts'
import { type Html, html } from '../parts/html.ts'
import { type Asked, ownPayments, type Series, seriesChart, seriesChoice, seriesPath } from '../parts/series.ts'
import { settlementTable } from '../parts/settlement-table.ts'
import { type Income, type IncomeSeries, incomeOf, type Self } from './income.ts'
import type { Sum } from './payment-sums.ts'

interface Money {
  readonly month: Sum
  readonly ever: Sum
  readonly series: Pick<Series, 'interval' | 'points'>
  readonly settlements: readonly Settlement[]
  /** Cursor of the next page; null: this is the last. */
  readonly next: string | null
  readonly income: Income | undefined
  readonly incomeSeries: IncomeSeries | undefined
  readonly asked: Asked
  readonly self: Self
  /** Cursor of the page that is shown; undefined: the first. */
  readonly after: string | undefined
}

/** Section on what the agent was paid: sums, a chart, and the settlements in pages. */
export function money(agent: Profile, shown: Money): Html {
  const { month, ever, series, asked, settlements, next, after, income, incomeSeries, self } = shown
  const own = ownPayments(self)
  const path = `/agent/${agent.fid}`
  const isUnpaid = ever.settlements === 0 && settlements.length === 0 && asked.chain === null
  if (isUnpaid && !income?.raw.payments) {
    return html`<section aria-labelledby="money"><h2 id="money">What it earned</h2>
<p class="empty">No gasless USDC payment has reached a verified address of this agent yet.</p></section>`
  }
  const facts: [string, Html | string][] = [
    ['volume in 30 days', amount(month.amount_usdc)],
    [`${settlementsOf(month)} in 30 days${payers(month)}`, number(month.settlements)],
    ['volume of all time', amount(ever.amount_usdc)],
    [`${settlementsOf(ever)} of all time${payers(ever)}`, number(ever.settlements)],
    ...medians(month, ever),
  ]
  return html`<section aria-labelledby="money"><h2 id="money">What it earned</h2>
<dl class="numbers small">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${seriesChoice(path, asked, 'money', own)}
${seriesChart('earned', series)}
${income && incomeSeries && incomeOf(agent.fid, { income, series: incomeSeries, settled: series, asked, self })}
<h3 id="settlements">${after === undefined ? 'Newest settlements' : 'Older settlements'}</h3>
${settlements.length === 0 ? html`<p class="empty">No gasless USDC settlement ${where(asked)}is known.${asked.chain !== null && html` <a href="${seriesPath(path, { ...asked, chain: null }, own)}#settlements">Look at all chains</a>`}</p>` : settlementTable('Settlements', settlements, agent.verified_addresses)}
<nav class="pager" aria-label="Settlements">${
    after !== undefined && html`<a class="button" href="${seriesPath(path, asked, own)}#settlements">← Newest</a>`
  }${
    settlements.length > 0 &&
    html`<a href="${seriesPath(`${path}/settlements.csv`, { ...asked, range: '30d' }, after === undefined ? [] : [['after', after]])}">These as CSV</a>`
  }${
    next !== null &&
    html`<a class="button" rel="next" href="${seriesPath(path, asked, [...own, ['after', next]])}#settlements">Older →</a>`
  }</nav></section>`
}

/** The chains that were asked for, as words before `is known`. */
const where = ({ chain }: Asked) =>
  chain === null ? '' : `on ${chain.map((name) => chainOf(name).label).join(', ') || 'such a chain'} `

/** Median amount of 30 days, else of all time; empty where there are too many settlements to sort for a page. */
function medians(month: Sum, ever: Sum): [string, Html][] {
  if (month.median_usdc !== null) return [['median amount in 30 days', amount(month.median_usdc)]]
  return ever.median_usdc === null ? [] : [['median amount of all time', amount(ever.median_usdc)]]
}

const settlementsOf = ({ settlements }: Sum) => (settlements === 1 ? 'settlement' : 'settlements')
const payers = ({ unique_payers: many }: Sum) => (many ? `, from ${counted(many, 'payer')}` : '')
