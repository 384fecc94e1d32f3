import { chainOf } from '../../../chains.config.ts'
import type { SettlementDay } from '../../../db/queries/read/settlement-days.ts'
import { type Html, html } from '../../http/html.ts'
import type { Profile, Settlement } from '../parts/answers.ts'
import { dollars } from '../parts/figures.ts'
import { addressLink, transactionLink } from '../parts/links.ts'
import { minute } from '../parts/times.ts'
import { settlementChart } from './settlement-chart.ts'

/** The last 30 days as a chart, the newest ones as rows. */
export function settlements(
  { settlements_all: ever }: Profile,
  newest: readonly Settlement[],
  days: readonly SettlementDay[],
): Html {
  if (ever === 0 && newest.length === 0) {
    return html`<section aria-labelledby="settlements"><h2 id="settlements">Settlements</h2>
<p class="empty">No gasless USDC payment has reached a verified address of this agent yet.</p></section>`
  }
  return html`<section aria-labelledby="settlements"><h2 id="settlements">Settlements</h2>
${settlementChart(days)}
<div class="table" role="region" aria-label="Newest settlements" tabindex="0"><table>
<thead><tr><th scope="col">When (UTC)</th><th scope="col" class="number">Amount</th><th scope="col">Chain</th><th scope="col">From</th><th scope="col">To</th><th scope="col">Transaction</th></tr></thead>
<tbody>${newest.map(row)}</tbody>
</table></div></section>`
}

/** The anchor of one settlement, for the page and for links into it. */
export function settlementId({ chain, block_number: block, log_index: index }: Settlement): string {
  return `settlement-${chain}-${block}-${index}`
}

function row(settlement: Settlement): Html {
  const { chain, tx_hash, block_timestamp, payer_address, recipient_address, amount_usdc, final } = settlement
  return html`<tr id="${settlementId(settlement)}">
<td>${minute(block_timestamp)}</td>
<td class="number">${dollars(amount_usdc)}</td>
<td><span class="chain ${chain}">${chainOf(chain).label}</span></td>
<td>${addressLink(chain, payer_address)}</td>
<td>${addressLink(chain, recipient_address)}</td>
<td>${transactionLink(chain, tx_hash)}${!final && html` <span class="sub">not final yet</span>`}</td>
</tr>`
}
