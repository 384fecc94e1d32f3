import type { z } from 'zod'
import { wordParameter } from '../../http/parameters.ts'
import type { agentIncome, incomeSeries } from '../../schemas/income/income.ts'
import { chart } from '../parts/chart.ts'
import type { Exact } from '../parts/exact-json.ts'
import { amount, cents, counted, number, shortDollars } from '../parts/figures.ts'
import { type Html, html } from '../parts/html.ts'
import { type Asked, bucketName, firstShown, ownPayments, seriesPath, totalOf } from '../parts/series.ts'
import { duration } from '../parts/times.ts'

export type Income = Exact<z.output<typeof agentIncome>>
export type IncomeSeries = Exact<z.output<typeof incomeSeries>>

/** Whether the figures include self-payments; pages leave them out by default. */
export const selfParameter = wordParameter(['without', 'with'], 'without', 'Payments of the agent to itself.')
export type Self = 'without' | 'with'

/** Links that leave the agent's own payments out, or count them. */
export function selfChoice(fid: number, asked: Asked, self: Self): Html {
  const chip = (name: string, word: Self) =>
    html`<li><a class="chip" href="${seriesPath(`/agent/${fid}`, asked, ownPayments(word))}#money"${word === self && html` aria-current="true"`}>${name}</a></li>`
  return html`<nav class="filters" aria-label="Own payments"><div class="group"><ul aria-label="Own payments">${chip('Without self-payments', 'without')}${chip('With self-payments', 'with')}</ul></div></nav>`
}

/** Payments of all time by kind. */
export function kindTable({ by_kind: all }: Income, isFiltered: boolean): Html {
  const kinds = all.filter(({ raw }) => raw.payments > 0 || Number(raw.amount_usdc) !== 0)
  return html`<div class="table" role="group" aria-label="Income by kind" tabindex="0"><table>
<thead><tr><th scope="col">Kind, of all time</th><th scope="col" class="number">Payments</th><th scope="col" class="number">Amount</th></tr></thead>
<tbody>${kinds.map(({ kind, raw, filtered }) => {
    const { payments, amount_usdc } = isFiltered ? filtered : raw
    return html`<tr><th scope="row">${kindNames[kind] ?? (kind as string).replaceAll('_', ' ')}</th><td class="number">${number(payments)}</td><td class="number">${amount(amount_usdc)}</td></tr>`
  })}</tbody></table></div>`
}

/** Names of the kinds of payments; a kind that is missing here is shown by its name in the API. */
const kindNames: Readonly<Record<string, string>> = {
  eip3009_vrs: 'Signed authorization (v, r, s)',
  eip3009_bytes: 'Signed authorization (bytes)',
  forwarded: 'Through a forwarder',
  permit2_exact: 'Permit2, exact amount',
  permit2_upto: 'Permit2, up to an amount',
  batch_claim: 'Claimed from a channel',
  escrow_charge: 'Charged by an escrow',
  escrow_capture: 'Captured from an escrow',
  escrow_refund: 'Refunded by an escrow',
  job_release: 'Paid by a job',
}

const pointsOf = ({ points }: IncomeSeries, isFiltered: boolean) =>
  points.map((point) => ({
    start: point.start,
    settlements: isFiltered ? point.filtered_payments : point.payments,
    amount_usdc: isFiltered ? point.filtered_amount_usdc : point.amount_usdc,
  }))

/** Payments of a series and their exact sum. */
export function paidIn(series: IncomeSeries, isFiltered: boolean): { payments: number; amount_usdc: string } {
  const { volume, count } = totalOf({ points: pointsOf(series, isFiltered) })
  return { payments: count, amount_usdc: volume }
}

export function incomeChart(series: IncomeSeries, isFiltered: boolean): Html {
  const { interval } = series
  const all = pointsOf(series, isFiltered)
  const shown = all.slice(
    firstShown(
      interval,
      all.map(({ settlements }) => settlements),
    ),
  )
  const bars = shown.map(({ start, settlements, amount_usdc }) => ({
    name: bucketName(interval, start),
    value: settlements === 0 ? 0 : Math.max(Number(amount_usdc), Number.MIN_VALUE),
    cells: [{ usd: amount_usdc }, counted(settlements, 'payment')],
  }))
  const { payments, amount_usdc } = paidIn(series, isFiltered)
  return chart({
    id: 'earned',
    title: 'Income over time',
    summary: `${cents(amount_usdc)} in ${counted(payments, 'payment')} over ${counted(shown.length, interval)}, by ${interval}.`,
    columns: [interval === 'month' ? 'Month' : 'Day', 'Amount', 'Payments'],
    bars,
    scale: shortDollars,
    isLastPartial: true,
  })
}

/** Shares and flags by which a reader judges the sums; the API documents how each is computed. */
export function signs({ x402, flags, demand }: Income): Html {
  const { self, same_owner, ring, dust, reciprocal, other_chain, single_payer } = flags
  const rows: [string, Html | string | false][] = [
    ...(demand === null ? [] : comingBack(demand)),
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

/** Who of the payers comes back. */
function comingBack(demand: NonNullable<Income['demand']>): [string, Html | string | false][] {
  const { payers, repeat_payers_all: again, payers_returned: returned, repeat_payers_30d: lately } = demand
  const { median_seconds_between_payments: gap, largest_payer_share: share } = demand
  return [
    [
      'Repeat payers',
      again > 0 &&
        html`${number(again)} of ${counted(payers, 'payer')} paid more than once, ${number(lately)} of them in 30 days; ${number(returned)} came back a day or more later`,
    ],
    ['Time between', gap !== null && html`${duration(gap)} between payments of one payer, in the middle`],
    ['Largest payer', share !== null && payers > 1 && html`${percent(share)} of the amount`],
  ]
}

const paid = (sum: { readonly payments: number; readonly amount_usdc: string }) =>
  html`${amount(sum.amount_usdc)} in ${counted(sum.payments, 'payment')}`
const percent = (share: number) => `${Math.round(share * 1_000) / 10}%`
