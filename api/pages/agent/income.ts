import type { z } from 'zod'
import { wordParameter } from '../../http/parameters.ts'
import type { agentIncome, incomeSeries } from '../../schemas/income/income.ts'
import { chart } from '../parts/chart.ts'
import type { Exact } from '../parts/exact-json.ts'
import { amount, counted, dollars, number, shortDollars } from '../parts/figures.ts'
import { type Html, html } from '../parts/html.ts'
import { type Asked, bucketName, firstShown, ownPayments, type Series, seriesPath } from '../parts/series.ts'

export type Income = Exact<z.output<typeof agentIncome>>
export type IncomeSeries = Exact<z.output<typeof incomeSeries>>

/** Whether the figures include self-payments; pages leave them out by default. */
export const selfParameter = wordParameter(['without', 'with'], 'without', 'Payments of the agent to itself.')
export type Self = 'without' | 'with'

interface Shown {
  readonly income: Income
  readonly series: IncomeSeries
  /** Points of the settlement chart for the same range; an income chart equal to it is not drawn. */
  readonly settled: Pick<Series, 'points'>
  readonly asked: Asked
  readonly self: Self
}

/** Section on payments of every kind: sums, a chart, and signs of who is behind them. Empty without any payment. */
export function incomeOf(fid: number, { income, series, settled, asked, self }: Shown): Html {
  if (income.raw.payments === 0) return html``
  const isFiltered = self === 'without'
  const sum = isFiltered ? income.filtered : income.raw
  const path = `/agent/${fid}`
  const chip = (name: string, word: Self) =>
    html`<li><a class="chip" href="${seriesPath(path, asked, ownPayments(word))}#income"${word === self && html` aria-current="true"`}>${name}</a></li>`
  const kinds = income.by_kind.filter(({ raw }) => raw.payments > 0)
  return html`<h3 id="income">Income of every kind</h3>
<nav class="filters" aria-label="Own payments"><div class="group"><ul aria-label="Own payments">${chip('Without self-payments', 'without')}${chip('With self-payments', 'with')}</ul></div></nav>
<p>${amount(sum.amount_usdc)} in ${counted(sum.payments, 'payment')}${income.payers && html` from ${counted(isFiltered ? income.payers.filtered : income.payers.raw, 'payer')}`}, ${isFiltered ? 'what it paid itself left out' : 'what it paid itself included'}. <a href="/api/agent/${fid}/income">As JSON</a></p>
<div class="table" role="group" aria-label="Income by kind" tabindex="0"><table>
<thead><tr><th scope="col">Kind</th><th scope="col" class="number">Payments</th><th scope="col" class="number">Amount</th></tr></thead>
<tbody>${kinds.map(({ kind, raw, filtered }) => {
    const { payments, amount_usdc } = isFiltered ? filtered : raw
    return html`<tr><th scope="row">${kindNames[kind] ?? (kind as string).replaceAll('_', ' ')}</th><td class="number">${number(payments)}</td><td class="number">${amount(amount_usdc)}</td></tr>`
  })}</tbody></table></div>
${overTime(series, settled, isFiltered)}
${signs(income)}`
}

/** Names of the kinds of payments; a kind that is missing here is shown by its name in the API. */
const kindNames: Readonly<Record<string, string>> = {
  eip3009_vrs: 'Signed authorization (v, r, s)',
  eip3009_bytes: 'Signed authorization (bytes)',
  forwarded: 'Through a forwarder',
  permit2_exact: 'Permit2, exact amount',
  permit2_upto: 'Permit2, up to an amount',
}

/** Chart of income over time, or a sentence when the settlement chart already shows the same points. */
function overTime({ interval, points }: IncomeSeries, settled: Pick<Series, 'points'>, isFiltered: boolean): Html {
  const all = points.map((point) => ({
    start: point.start,
    payments: isFiltered ? point.filtered_payments : point.payments,
    amount_usdc: isFiltered ? point.filtered_amount_usdc : point.amount_usdc,
  }))
  const isSettled = all.every(({ start, payments, amount_usdc }, index) => {
    const other = settled.points[index]
    return (
      other?.start === start && other.settlements === payments && dollars(other.amount_usdc) === dollars(amount_usdc)
    )
  })
  if (isSettled) return html`<p class="sub">The chart above shows all of it.</p>`
  const shown = all.slice(
    firstShown(
      interval,
      all.map(({ payments }) => payments),
    ),
  )
  const bars = shown.map(({ start, payments, amount_usdc }) => ({
    name: bucketName(interval, start),
    value: payments === 0 ? 0 : Math.max(Number(amount_usdc), Number.MIN_VALUE),
    cells: [{ usd: amount_usdc }, counted(payments, 'payment')],
  }))
  const payments = shown.reduce((sum, point) => sum + point.payments, 0)
  return chart({
    id: 'income-chart',
    title: 'Income over time',
    summary: `${counted(payments, 'payment')} of every kind over ${counted(shown.length, interval)}, by UTC ${interval}, ${isFiltered ? 'without' : 'with'} self-payments.`,
    columns: [interval === 'month' ? 'Month' : 'Day', 'Amount', 'Payments'],
    bars,
    scale: shortDollars,
    isLastPartial: true,
  })
}

/** Shares and flags by which a reader judges the sums; the API documents how each is computed. */
function signs({ x402, flags }: Income): Html {
  const { self, same_owner, ring, dust, reciprocal, other_chain, single_payer } = flags
  const rows: [string, Html | string | false][] = [
    [
      'By x402',
      x402.share !== null &&
        x402.payments > 0 &&
        html`${percent(x402.share)} of the amount, in ${counted(x402.payments, 'payment')} with evidence of it`,
    ],
    ['To itself', self.payments > 0 && paid(self)],
    ['Same owner', same_owner.payments > 0 && paid(same_owner)],
    ['In a ring', ring.payments > 0 && paid(ring)],
    [
      'Paid back',
      reciprocal !== null &&
        reciprocal.payers > 0 &&
        html`${paid(reciprocal)} by ${counted(reciprocal.payers, 'payer')} that the agent paid back`,
    ],
    ['Dust', dust.payments > 0 && html`${paid(dust)}, each below a thousandth of a dollar`],
    [
      'Other chains',
      other_chain.payments > 0 &&
        html`${paid(other_chain)} to contract wallets on other chains than they are verified on`,
    ],
    ['Payers', single_payer === true && 'Nearly all of the amount came from one payer.'],
  ]
  return html`<dl class="facts">${rows.map(([name, value]) => value !== false && html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}

const paid = (sum: { readonly payments: number; readonly amount_usdc: string }) =>
  html`${amount(sum.amount_usdc)} in ${counted(sum.payments, 'payment')}`
const percent = (share: number) => `${Math.round(share * 1_000) / 10}%`
