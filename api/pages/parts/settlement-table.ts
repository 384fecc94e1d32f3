import { chainOf } from '../../../config/chains.ts'
import type { Settlement } from './exact-json.ts'
import { amount } from './figures.ts'
import { type Html, html } from './html.ts'
import { ownAddress, ownTransaction } from './links.ts'
import { type Names, nameLink } from './names.ts'
import { minute } from './times.ts'

/** Element id of a settlement's row, which is also the fragment of links to it. */
export function settlementId({ chain, block_number: block, log_index: index }: Settlement): string {
  return `settlement-${chain}-${block}-${index}`
}

/**
 * Table of settlements; payer, recipient and transaction link to their pages. `own`: addresses of the subject of the
 * page; a settlement that one of them paid is marked as a self-payment. `names`: who is known behind the others.
 */
export function settlementTable(
  name: string,
  settlements: readonly Settlement[],
  own: readonly string[] = [],
  names: Names = new Map(),
): Html {
  return html`<div class="table" role="group" aria-label="${name}" tabindex="0"><table class="settled">
<thead><tr><th scope="col">When</th><th scope="col" class="number">Amount</th><th scope="col">Chain</th><th scope="col">From</th><th scope="col">To</th><th scope="col">Transaction</th></tr></thead>
<tbody>${settlements.map((settlement) => row(settlement, own, names))}</tbody>
</table></div>`
}

function row(settlement: Settlement, own: readonly string[], names: Names): Html {
  const { chain, tx_hash, block_timestamp, payer_address, recipient_address, amount_usdc, final } = settlement
  const itself = payer_address === recipient_address || own.includes(payer_address)
  const who = (address: string) => html`${!own.includes(address) && nameLink(names, address)} ${ownAddress(address)}`
  return html`<tr id="${settlementId(settlement)}">
<td>${minute(block_timestamp)}</td>
<td class="number">${amount(amount_usdc)}</td>
<td><span class="chain ${chain}">${chainOf(chain).label}</span></td>
<td>${who(payer_address)}${itself && toItself}</td>
<td>${who(recipient_address)}</td>
<td>${ownTransaction(chain, tx_hash)}${!final && notFinal}</td>
</tr>`
}

/** Marks in a row: of a self-payment, and of what may be undone. */
export const toItself = html` <span class="status" title="Payer and recipient are one’s own addresses">to itself</span>`
export const notFinal = html` <span class="sub">not final yet</span>`
