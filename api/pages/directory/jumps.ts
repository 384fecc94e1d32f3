import type { z } from 'zod'
import { chainOf } from '../../../config/chains.ts'
import { rowLimits } from '../../../config/limits.ts'
import { understood } from '../../../db/queries/directory/query-text.ts'
import { tokenHolder } from '../../../db/queries/registrations/registrations.ts'
import { allSettlements } from '../../routes/settlements/all-settlements.ts'
import type { allSettlementsList } from '../../schemas/settlements/settlement.ts'
import { noneKnown } from '../lookup/transaction.ts'
import { counted } from '../parts/figures.ts'
import { type Html, html } from '../parts/html.ts'
import { identityLink, ownAddress, ownTransaction } from '../parts/links.ts'
import { namesOf } from '../parts/names.ts'
import { askExact, type World } from '../parts/page.ts'
import { settlementTable } from '../parts/settlement-table.ts'

/** Most settlements of a transaction that are shown above the agents found; its page has more. */
const mostRows = 10

/** Link to the page that a search names exactly: an address, a registration, a FID; of a transaction its table. Empty: none. */
export async function jumps(world: World, q: string): Promise<Html> {
  const { address, transaction, registration, fid } = understood(q)
  const hex = (bytes: Buffer) => `0x${bytes.toString('hex')}`
  if (address) return jump(html`What is known of the address ${ownAddress(hex(address))}`)
  if (transaction) {
    const query = allSettlements.query.parse({ tx_hash: hex(transaction), limit: `${rowLimits.settlements.maximum}` })
    const list = await askExact<z.output<typeof allSettlementsList>>(world, allSettlements, query)
    const [first] = list?.settlements ?? []
    if (!list || !first) return jump(html`${noneKnown}.`)
    const rows = list.settlements.slice(0, mostRows)
    return html`${jump(
      html`${list.next_cursor !== null && 'At least '}${counted(list.count, 'settlement')} in the transaction ${ownTransaction(first.chain, first.tx_hash)} on ${chainOf(first.chain).label}`,
    )}${settlementTable('Settlements of the transaction', rows, [], await namesOf(world, rows))}`
  }
  if (registration) {
    const { chain, id } = registration
    const holder = await tokenHolder(world.database, registration)
    const name = html`<span class="chain ${chain}">${chainOf(chain).label}</span> ${identityLink(world, chain, id)}`
    if (!holder) return jump(html`${name} is not known: nobody registered it, or it was burned.`)
    return jump(html`${name} is held by ${ownAddress(holder)}`)
  }
  return fid === null ? html`` : jump(html`<a href="/explain?q=${fid}">Why FID ${fid} is listed, or is not</a>`)
}

const jump = (text: Html) => html`<p class="jump">${text}</p>`
