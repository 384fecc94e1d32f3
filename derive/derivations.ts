import type { Derivation } from './derivation.ts'
import { deriveEdges, lookAround } from './edges.ts'
import { deriveIncome, routeWallets } from './income.ts'
import { deriveRings } from './rings.ts'

const registration = `chain || ':' || agent_id`

/** Agents that an agent paid. Who becomes one later brings what was paid before along. */
const paidByAgent = `
      join verified_address v on v.address = moved.recipient and v.ended_at is null
     where exists (select from agent a where a.fid = v.fid)
       and exists (select from verified_address p join agent a on a.fid = p.fid
                    where p.address = moved.payer and p.ended_at is null and p.fid <> v.fid)`

/**
 * Everything that is derived key by key, each behind what it depends on. The triggers of db/schema/tables/17_marks.sql are
 * made from `marks`; derivations mark keys of those below them too.
 */
export const derivations = [
  {
    // Agents that changed, or whom something may tie to another: whose edges may be others now. Keys: FIDs.
    kind: 'neighbours',
    marks: [
      { table: 'agent_change', on: ['insert'], key: 'fid' },
      { table: 'social_follow', key: 'fid' },
      { table: 'settlement_payer', key: 'v.fid', through: paidByAgent },
    ],
    batch: 500,
    rest: 'with sums',
    derive: lookAround,
  },
  {
    // Edges between agents. Keys: FIDs.
    kind: 'edges',
    marks: [],
    batch: 100,
    rest: 'with counts',
    derive: deriveEdges,
  },
  {
    // Whose wallets changed: their holders' income. Keys: registrations.
    kind: 'wallets',
    marks: [{ table: 'registration_wallet', on: ['insert', 'delete'], key: registration }],
    batch: 100,
    rest: 'with sums',
    derive: routeWallets,
  },
  {
    // Addresses whose payments are an agent's income, and those that are its own. Keys: FIDs.
    kind: 'income',
    marks: [{ table: 'agent_change', on: ['insert'], key: 'fid' }],
    batch: 100,
    rest: 'with sums',
    derive: deriveIncome,
  },
  {
    // Money that goes round to an address of an agent. Keys: addresses.
    kind: 'rings',
    marks: [
      { table: 'settlement_payer', ...addressesReached() },
      { table: 'payment_sum', ...addressesReached() },
      { table: 'income_address', on: ['insert', 'delete'], key: hex('moved.address') },
    ],
    batch: 50,
    rest: 'with sums',
    derive: deriveRings,
  },
] as const satisfies readonly Derivation[]

function hex(column: string): string {
  return `encode(${column}, 'hex')`
}

/** Addresses whose search saw a payer that has paid since. */
function addressesReached() {
  return { key: hex('r.address'), through: 'join income_reach r on r.payer = moved.payer' }
}
