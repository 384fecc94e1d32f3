import { deriveAgents, deriveCounts, routeHolders, routeRegistrations } from './agents.ts'
import type { Derivation } from './derivation.ts'
import { deriveEdges, lookAround } from './edges.ts'
import { deriveIncome, routeWallets } from './income.ts'
import { deriveLargeHolders, deriveSummedHolders } from './large-holders.ts'
import { deriveRings } from './rings.ts'

const registration = `chain || ':' || agent_id`

const bothSides = {
  key: hex('side.address'),
  through: 'cross join lateral (values (moved."from"), (moved."to")) as side (address) where side.address is not null',
}

/** Whose an account is decides about its claims, and about whose its handle is. */
const ownsClaimOrHandle = `
     where exists (select from claim c where c.fid = moved.fid and c.state <> 'ended')
        or exists (select from social_profile p where p.fid = moved.fid and p.handle_owner is not null)`

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
    // Addresses that got or gave a registration, or are verified otherwise: agents that meet them. Keys: addresses.
    kind: 'holders',
    marks: [
      { table: 'registration_transfer', on: ['insert', 'delete'], ...bothSides },
      { table: 'verified_address', key: hex('address') },
    ],
    all: [{ table: 'registration_transfer', key: hex('"to"') }],
    batch: 1_000,
    rest: 'soon',
    derive: routeHolders,
  },
  {
    // What changed of a registration without its changing hands: its holders. Keys: registrations.
    kind: 'registrations',
    marks: [
      { table: 'registration', key: registration },
      { table: 'registration_document', on: ['insert', 'update'], key: registration },
      { table: 'feedback', key: registration },
    ],
    all: [],
    batch: 1_000,
    rest: 'soon',
    derive: routeRegistrations,
  },
  {
    // Agents as readers see them. Those with very many holdings make large holders due. Keys: FIDs.
    kind: 'agents',
    marks: [
      { table: 'social_profile', on: ['insert', 'update'], key: 'fid' },
      { table: 'claim', on: ['insert'], key: 'fid' },
      { table: 'claim_event', on: ['insert'], key: 'fid', through: "where kind <> 'claimed'" },
      { table: 'custody_reading', on: ['insert', 'update'], key: 'fid' },
      { table: 'fid_custody', on: ['insert', 'delete'], key: 'fid', through: ownsClaimOrHandle },
      { table: 'unlisted', on: ['insert', 'delete'], key: 'fid' },
      { table: 'agent_spec_check', on: ['insert', 'update'], key: 'fid' },
      { table: 'oli_tag', key: 'fid' },
      { table: 'agent_identity', key: 'fid' },
      { table: 'codehost_profile', key: 'fid' },
    ],
    all: [
      { table: 'agent', key: 'fid' },
      { table: 'claim', key: 'fid' },
    ],
    batch: 100,
    rest: 'soon',
    derive: deriveAgents,
  },
  {
    // Holdings of agents to whom very many registrations were transferred, each once a minute. Keys: FIDs.
    kind: 'large holders',
    marks: [],
    all: [{ table: 'large_holder', key: 'fid' }],
    batch: 1,
    rest: 'soon',
    derive: deriveLargeHolders,
  },
  {
    // The agents of those holdings. Keys: FIDs.
    kind: 'summed holders',
    marks: [],
    all: [],
    batch: 100,
    rest: 'soon',
    derive: deriveSummedHolders,
  },
  {
    // What agents that are new were paid. Keys: FIDs.
    kind: 'counts',
    marks: [{ table: 'agent', on: ['insert'], key: 'fid' }],
    all: [{ table: 'agent', key: 'fid' }],
    batch: 100,
    rest: 'soon',
    derive: deriveCounts,
  },
  {
    // Agents that changed, or whom something may tie to another: whose edges may be others now. Keys: FIDs.
    kind: 'neighbours',
    marks: [
      { table: 'agent_change', on: ['insert'], key: 'fid' },
      { table: 'social_follow', key: 'fid' },
      { table: 'settlement_payer', key: 'v.fid', through: paidByAgent },
    ],
    all: [
      { table: 'agent', key: 'fid' },
      { table: 'agent_edge', key: 'fid' },
    ],
    batch: 500,
    rest: 'with sums',
    derive: lookAround,
  },
  {
    // Edges between agents. Keys: FIDs.
    kind: 'edges',
    marks: [],
    all: [{ table: 'agent_edge', key: 'fid' }],
    batch: 100,
    rest: 'with counts',
    derive: deriveEdges,
  },
  {
    // Whose wallets changed: their holders' income. Keys: registrations.
    kind: 'wallets',
    marks: [{ table: 'registration_wallet', on: ['insert', 'delete'], key: registration }],
    all: [],
    batch: 100,
    rest: 'with sums',
    derive: routeWallets,
  },
  {
    // Addresses whose payments are an agent's income, and those that are its own. Keys: FIDs.
    kind: 'income',
    marks: [{ table: 'agent_change', on: ['insert'], key: 'fid' }],
    all: [
      { table: 'agent', key: 'fid' },
      { table: 'income_address', key: 'fid' },
      { table: 'income_owner', key: 'fid' },
    ],
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
    all: [
      { table: 'income_address', key: hex('address') },
      { table: 'income_reach', key: hex('address') },
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
