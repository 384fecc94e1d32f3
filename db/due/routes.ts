import { hex, type Mark } from './mark.ts'

// What leads from rows to keys, as marks of several kinds have it.

export const claimEvent = `'claim:' || fid || ':' || seq`
/** Key of the registration of a row. */
export const registration = `chain || ':' || agent_id`
export const change = `'change:' || seq`

/** Registrations that addresses hold now. */
export function heldBy(from: string, address: string) {
  return { key: `r.chain || ':' || r.agent_id`, from: `${from} join registration r on r.owner = ${address}` }
}

/** Accounts that verify the address of an owner now. */
export function ownedBy(owner: string) {
  return { key: 'v.fid', from: `moved join verified_address v on v.address = ${owner} and v.ended_at is null` }
}

/** Addresses that agents got or lost. */
export function agentAddresses(key: (address: string) => string): readonly Mark[] {
  return [
    {
      table: 'agent',
      on: ['insert', 'delete'],
      key: key('address'),
      from: 'moved cross join unnest(moved.verified_addresses) as address',
    },
    {
      table: 'agent',
      on: ['update'],
      key: key('address'),
      from: `moved join were using (fid) cross join unnest(were.verified_addresses || moved.verified_addresses) as address
     where moved.verified_addresses <> were.verified_addresses`,
    },
  ]
}

/** Addresses whose search saw a payer that has paid since. */
export function addressesReached() {
  return { key: hex('r.address'), from: 'moved join income_reach r on r.payer = moved.payer' }
}
