import { type AddressName, addressNames } from '../../../db/queries/addresses/address-names.ts'
import type { Settlement } from './exact-json.ts'
import { type Html, html } from './html.ts'
import { agentLink } from './links.ts'
import type { World } from './page.ts'
import { excerpt, oneLine } from './text.ts'

/** Names of addresses that are agents' or facilitators'; others are missing. */
export type Names = ReadonlyMap<string, AddressName>

/** Names of who paid, was paid, and sent the transactions, and of who is behind other addresses. */
export function namesOf(
  { database }: World,
  settlements: readonly Settlement[],
  others: readonly string[] = [],
): Promise<Names> {
  const all = settlements
    .flatMap((one) => [one.payer_address, one.recipient_address, one.facilitator_address])
    .concat(others)
  return addressNames(database, [...new Set(all)])
}

/** Most characters of a name in a table. */
const shortest = 20

/** Link to the page of who is behind an address: an agent before a facilitator. False: nobody known. */
export function nameLink(names: Names, address: string): Html | false {
  const known = names.get(address)
  if (known?.agent) {
    const { fid, handle } = known.agent
    return agentLink({ fid, handle: handle === null ? null : excerpt(oneLine(handle), shortest) })
  }
  return known !== undefined && known.facilitator !== null && facilitatorLink(known.facilitator)
}

const facilitatorLink = (name: string): Html =>
  html`<a href="${facilitatorPath(name)}"><bdi>${excerpt(oneLine(name), shortest)}</bdi></a>`

export const facilitatorPath = (name: string) => `/facilitator/${encodeURIComponent(name)}`
