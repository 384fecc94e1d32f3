import { type Html, html } from '../../http/html.ts'
import type { Profile, Settlement } from '../parts/answers.ts'
import { counted, dollars, figure } from '../parts/figures.ts'
import { type Asked, type Series, seriesChart, seriesChoice, seriesPath } from '../parts/series.ts'
import { settlementTable } from '../parts/settlement-table.ts'
import type { Sum } from './paid.ts'

interface Money {
  readonly month: Sum
  readonly ever: Sum
  readonly series: Pick<Series, 'interval' | 'points'>
  readonly settlements: readonly Settlement[]
  /** Of the next page; null: this is the last. */
  readonly next: string | null
  readonly asked: Asked
  /** The page that is shown; undefined: the first. */
  readonly after: string | undefined
}

/** What the agent was paid: sums, a chart, every settlement in pages. */
export function money(agent: Profile, shown: Money): Html {
  const { month, ever, series, asked, settlements, next, after } = shown
  const path = `/agent/${agent.fid}`
  if (ever.settlements === 0 && settlements.length === 0 && asked.chain === null) {
    return html`<section aria-labelledby="money"><h2 id="money">What it earned</h2>
<p class="empty">No gasless USDC payment has reached a verified address of this agent yet.</p></section>`
  }
  const facts: [string, Html | string][] = [
    ['volume in 30 days', dollars(month.amount_usdc)],
    [`in 30 days${payers(month)}`, counted(month.settlements, 'settlement')],
    ['volume of all time', dollars(ever.amount_usdc)],
    [`of all time${payers(ever)}`, counted(ever.settlements, 'settlement')],
  ]
  return html`<section aria-labelledby="money"><h2 id="money">What it earned</h2>
<dl class="numbers small">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${seriesChoice(path, asked, 'money')}
${seriesChart('earned', series)}
<h3 id="settlements">${after === undefined ? 'Newest settlements' : 'Older settlements'}</h3>
${settlements.length === 0 ? html`<p class="empty">None here.</p>` : settlementTable('Settlements', settlements, agent.verified_addresses)}
<nav class="pager" aria-label="Settlements">${
    after !== undefined && html`<a class="button" href="${seriesPath(path, asked)}#settlements">← Newest</a>`
  }<a href="${seriesPath(`${path}/settlements.csv`, { ...asked, range: '30d' }, after === undefined ? [] : [['after', after]])}">These as CSV</a>${
    next !== null &&
    html`<a class="button" rel="next" href="${seriesPath(path, asked, [['after', next]])}#settlements">Older →</a>`
  }</nav></section>`
}

const payers = ({ unique_payers: number }: Sum) =>
  number === null ? '' : `, from ${figure(number)} payer${number === 1 ? '' : 's'}`
