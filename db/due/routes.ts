import { hex, type Mark } from './mark.ts'

// What leads from rows to keys, as marks of several kinds have it.

export const claimEvent = `'claim:' || fid || ':' || seq`
/** Key of the registration of a row. */
export const registration = `chain || ':' || agent_id`
export const change = `'change:' || seq`

/** Begins a key that stands for all registrations of an address: their own keys are marked in slices, when it is its turn. */
export const ofHolder = '@'

/** Registrations that addresses hold now, however many: one key for each address. */
export function heldBy(from: string, address: string) {
  return {
    key: `'${ofHolder}' || ${hex(address)}`,
    from: `${from} where exists (select from registration r where r.owner = ${address})`,
  }
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
  return { key: hex('r.address'), from: `moved join circle_reach r on r.kind = 'rings' and r.member = moved.payer` }
}
