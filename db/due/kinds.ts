/** Rows whose coming, change or going makes keys due. */
export interface Mark {
  readonly table: string
  /** Default: all three. */
  readonly on?: readonly MarkEvent[]
  /** SQL of the key, over `moved`: rows as they became, or as they were when they are deleted. */
  readonly key: string
  /** SQL behind `from moved`: what leads from the rows to keys, or leaves rows out. */
  readonly through?: string
}

export type MarkEvent = 'insert' | 'update' | 'delete'

/** Rows that have all keys of a kind. */
export interface KeyRows {
  readonly table: string
  /** SQL of the key. */
  readonly key: string
}

interface Kind {
  readonly marks: readonly Mark[]
  /** Where all its keys are, to derive everything again. None where other kinds make all that matter due. */
  readonly all: readonly KeyRows[]
}

const registration = `chain || ':' || agent_id`

const bothSides = {
  key: hex('side.address'),
  through: 'cross join lateral (values (moved."from"), (moved."to")) as side (address) where side.address is not null',
}

/** Whose an account is decides about its claims, and about whose its handle is. */
const ownsClaimOrHandle = `where exists (select from claim c where c.fid = moved.fid and c.state <> 'ended')
        or exists (select from social_profile p where p.fid = moved.fid and p.handle_owner is not null)`

/** Agents that were paid. Who becomes one later is due then. */
const heldByAgent = `join verified_address v on v.address = moved.recipient and v.ended_at is null
     where exists (select from agent a where a.fid = v.fid)`

/** Agents that an agent paid. Who becomes one later brings what was paid before along. */
const paidByAgent = `join verified_address v on v.address = moved.recipient and v.ended_at is null
     where exists (select from agent a where a.fid = v.fid)
       and exists (select from verified_address p join agent a on a.fid = p.fid
                    where p.address = moved.payer and p.ended_at is null and p.fid <> v.fid)`

/**
 * What is derived key by key, each kind behind what it depends on: which rows make keys of it due. `npm run migrate`
 * installs the triggers that do; derivations mark keys of the kinds below them too. How each is derived is in
 * derive/derivations.ts, in the same order.
 */
export const kinds = {
  /** Addresses that got or gave a registration, or are verified otherwise: agents that meet them. Keys: addresses. */
  holders: {
    marks: [
      { table: 'registration_transfer', on: ['insert', 'delete'], ...bothSides },
      { table: 'verified_address', key: hex('address') },
    ],
    all: [{ table: 'registration_transfer', key: hex('"to"') }],
  },
  /** What changed of a registration without its changing hands: its holders. Keys: registrations. */
  registrations: {
    marks: [
      { table: 'registration', key: registration },
      { table: 'registration_document', on: ['insert', 'update'], key: registration },
      { table: 'feedback', key: registration },
    ],
    all: [],
  },
  /** Agents as readers see them. Those with very many holdings make large holders due. Keys: FIDs. */
  agents: {
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
  },
  /** Holdings of agents to whom very many registrations were transferred, each once a minute. Keys: FIDs. */
  'large holders': { marks: [], all: [{ table: 'large_holder', key: 'fid' }] },
  /** The agents of those holdings. Keys: FIDs. */
  'summed holders': { marks: [], all: [] },
  /** What agents that are new were paid. Keys: FIDs. */
  counts: {
    marks: [{ table: 'agent', on: ['insert'], key: 'fid' }],
    all: [{ table: 'agent', key: 'fid' }],
  },
  /** Agents that changed, or whom something may tie to another: whose edges may be others now. Keys: FIDs. */
  neighbours: {
    marks: [
      { table: 'agent_change', on: ['insert'], key: 'fid' },
      { table: 'social_follow', key: 'fid' },
      { table: 'settlement_payer', key: 'v.fid', through: paidByAgent },
    ],
    all: [
      { table: 'agent', key: 'fid' },
      { table: 'agent_edge', key: 'fid' },
    ],
  },
  /** Edges between agents. Keys: FIDs. */
  edges: { marks: [], all: [{ table: 'agent_edge', key: 'fid' }] },
  /** Whose wallets changed: their holders' income. Keys: registrations. */
  wallets: { marks: [{ table: 'registration_wallet', on: ['insert', 'delete'], key: registration }], all: [] },
  /** Addresses whose payments are an agent's income, and those that are its own. Keys: FIDs. */
  income: {
    marks: [{ table: 'agent_change', on: ['insert'], key: 'fid' }],
    all: [
      { table: 'agent', key: 'fid' },
      { table: 'income_address', key: 'fid' },
      { table: 'income_owner', key: 'fid' },
    ],
  },
  /** Money that goes round to an address of an agent. Keys: addresses. */
  rings: {
    marks: [
      { table: 'settlement_payer', ...addressesReached() },
      { table: 'payment_sum', ...addressesReached() },
      { table: 'income_address', on: ['insert', 'delete'], key: hex('moved.address') },
    ],
    all: [
      { table: 'income_address', key: hex('address') },
      { table: 'income_reach', key: hex('address') },
    ],
  },
  /** What agents were paid, by chain and window, which rankings are made of. Keys: FIDs. */
  figures: {
    marks: [
      { table: 'settlement_total', key: 'v.fid', through: heldByAgent },
      { table: 'income_hour', key: 'fid' },
      { table: 'agent_change', on: ['insert'], key: 'fid' },
    ],
    all: [
      { table: 'agent', key: 'fid' },
      { table: 'figure_derivation', key: 'fid' },
      { table: 'agent_figure', key: 'fid' },
    ],
  },
} as const satisfies Record<string, Kind>

export type KindName = keyof typeof kinds

function hex(column: string): string {
  return `encode(${column}, 'hex')`
}

/** Addresses whose search saw a payer that has paid since. */
function addressesReached() {
  return { key: hex('r.address'), through: 'join income_reach r on r.payer = moved.payer' }
}
