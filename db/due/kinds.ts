/** Rows whose coming, change or going makes keys due. */
export interface Mark {
  readonly table: string
  /** Default: all three. */
  readonly on?: readonly MarkEvent[]
  /** SQL of the key, over `moved`: rows as they became, or as they were when they are deleted. */
  readonly key: string
  /**
   * SQL behind `from`: what leads from the rows to keys, or leaves rows out. It may name `were` too: rows as they were
   * before an update. Default: moved.
   */
  readonly from?: string
}

export type MarkEvent = 'insert' | 'update' | 'delete'

/** Rows that have all keys of a kind. */
export interface KeyRows {
  /** SQL behind `from`. */
  readonly table: string
  /** SQL of the key. */
  readonly key: string
}

/** FIDs, and ids of registrations, of a part of the directory; the last part has all ids beyond. */
export const agentsOfPart = 1_024
export const tokensOfPart = 1_024
export const lastTokenPart = 4_095
/** The part of the directory's sums that counts an agent, as a key of the kind `totals`. */
export const partOfAgent = (fid: number) => `agents:${Math.floor(fid / agentsOfPart)}`

interface Kind {
  readonly marks: readonly Mark[]
  /** Where all its keys are, to derive everything again. None where other kinds make all that matter due. */
  readonly all: readonly KeyRows[]
}

const registration = `chain || ':' || agent_id`

const verifiedOf = 'moved cross join unnest(moved.verified_addresses) as address'

const claimEvent = `'claim:' || fid || ':' || seq`
const listingWord = `'listing:' || action || ':' || fid || ':' || method || ':' || nonce`

const change = `'change:' || seq`
/** A change whose digest was kept, or that an agent is gone; those of earlier versions have no digest. */
const isTold = `(sha256 is not null or kind = 'delist')`
const backfillDone = `'backfill:' || id`
const audited = `'audit:' || chain || ':' || from_block || ':' || to_block || ':' || checksum`
const hubFollowed = `'hub:' || (extract(epoch from followed_since) * 1000)::bigint || ':' || url`

const bothSides = {
  key: hex('side.address'),
  from: 'moved cross join lateral (values (moved."from"), (moved."to")) as side (address) where side.address is not null',
}

/** Whose an account is decides about its claims, and about whose its handle is. */
const ownsClaimOrHandle = `moved
     where exists (select from claim c where c.fid = moved.fid and c.state <> 'ended')
        or exists (select from social_profile p where p.fid = moved.fid and p.handle_owner is not null)`

const agentPart = `'agents:' || moved.fid / ${agentsOfPart}`

const supplyPart = `'supply:' || moved.chain || ':' || least(div(moved.agent_id, ${tokensOfPart}), ${lastTokenPart})::int`

const addressPart = (address: string) => `'addresses:' || left(${hex(address)}, 3)`

/** Agents that were paid. Who becomes one later is due then. */
const heldByAgent = `moved
      join verified_address v on v.address = moved.recipient and v.ended_at is null
     where exists (select from agent a where a.fid = v.fid)`

/** Agents that an agent paid. Who becomes one later brings what was paid before along. */
const paidByAgent = `moved
      join verified_address v on v.address = moved.recipient and v.ended_at is null
     where exists (select from agent a where a.fid = v.fid)
       and exists (select from verified_address p join agent a on a.fid = p.fid
                    where p.address = moved.payer and p.ended_at is null and p.fid <> v.fid)`

const paidHour = hourKey('paid.recipient', 'paid.chain', 'paid.at')

/** Hours of payments whose facilitator got or lost a name. */
const hoursSent = `moved
     cross join lateral (
       select h.recipient, h.chain, h.hour as at
         from income_sender f
         join settlement_hourly h on h.recipient = f.recipient and h.chain = f.chain
                                 and h.hour >= date_trunc('hour', f.first_at, 'UTC') and h.hour <= f.last_at
        where f.facilitator = moved.address
        union all
       select p.payee, p.chain, p.block_timestamp
         from payment p
        where p.facilitator = moved.address and p.kind = 'forwarded') paid
     where ${isIncome('paid.recipient')}`

/** Hours of the payments that builder codes tell of. */
const hoursCoded = `(
       ${rolledUp('chain, block_number, log_index')}
       select s.recipient, s.chain, s.block_timestamp as at from rolled join settlement s using (chain, block_number, log_index)
        union all
       select p.payee, p.chain, p.block_timestamp from rolled join payment p using (chain, block_number, log_index)) paid
     where ${isIncome('paid.recipient')}`

/** Hours of payments, and of what was passed on from them. */
const hoursPaid = `(
       ${rolledUp('chain, block_number, origin_log_index, payee, block_timestamp')}
       select payee as recipient, chain, block_timestamp as at from rolled
        union all
       select p.payee, p.chain, p.block_timestamp from rolled join payment p using (chain, block_number, origin_log_index)) paid
     where ${isIncome('paid.recipient')}`

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
      { table: 'claim_event', on: ['insert'], key: 'fid', from: "moved where kind <> 'claimed'" },
      { table: 'custody_reading', on: ['insert', 'update'], key: 'fid' },
      { table: 'fid_custody', on: ['insert', 'delete'], key: 'fid', from: ownsClaimOrHandle },
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
  /** Registrations as the search over all of them finds them. Keys: registrations. */
  'searched registrations': {
    marks: [
      { table: 'registration', key: registration },
      { table: 'registration_document', key: registration },
      { table: 'registration_metadata', key: registration },
      { table: 'feedback', key: registration },
      { table: 'verified_address', ...heldBy('moved', 'moved.address') },
      { table: 'agent', on: ['insert', 'delete'], ...heldBy(verifiedOf, 'address') },
      {
        table: 'agent',
        on: ['update'],
        ...heldBy(`${verifiedOf} join were on were.fid = moved.fid and were.claimed <> moved.claimed`, 'address'),
      },
    ],
    all: [
      { table: 'registration', key: registration },
      { table: 'searched_registration', key: registration },
    ],
  },
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
      { table: 'settlement_payer', key: 'v.fid', from: paidByAgent },
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
  /** What addresses of agents were paid in an hour. Keys: `hourKey`. */
  'income hours': {
    marks: [
      {
        table: 'settlement_hourly',
        key: hourKey('moved.recipient', 'moved.chain', 'moved.hour'),
        from: `moved where ${isIncome('moved.recipient')}`,
      },
      { table: 'payment', on: ['insert', 'delete'], key: paidHour, from: hoursPaid },
      { table: 'builder_code', on: ['insert', 'delete'], key: paidHour, from: hoursCoded },
      { table: 'facilitator_sender', on: ['insert', 'delete'], key: paidHour, from: hoursSent },
      {
        table: 'settlement_rollup',
        on: ['update'],
        key: paidHour,
        from: paidBetween('moved join were using (chain)', 'moved.chain', 'were.next_block'),
      },
      {
        table: 'settlement_rollup_backfill',
        on: ['insert'],
        key: paidHour,
        from: paidBetween('moved join backfill b on b.id = moved.backfill_id', 'b.chain', 'b.from_block'),
      },
      {
        table: 'settlement_rollup_backfill',
        on: ['update'],
        key: paidHour,
        from: paidBetween(
          'moved join were using (backfill_id) join backfill b on b.id = moved.backfill_id',
          'b.chain',
          'were.next_block',
        ),
      },
    ],
    all: [
      { table: 'income_hour', key: hourKey('recipient', 'chain', 'hour') },
      {
        table: 'income_address a join settlement_hourly h on h.recipient = a.address',
        key: hourKey('h.recipient', 'h.chain', 'h.hour'),
      },
      {
        table: 'income_address a join payment p on p.payee = a.address',
        key: hourKey('p.payee', 'p.chain', 'p.block_timestamp'),
      },
    ],
  },
  /** What agents were paid, by chain and window, which rankings are made of. Keys: FIDs. */
  figures: {
    marks: [
      { table: 'settlement_total', key: 'v.fid', from: heldByAgent },
      { table: 'income_hour', key: 'fid' },
      { table: 'agent_change', on: ['insert'], key: 'fid' },
    ],
    all: [
      { table: 'agent', key: 'fid' },
      { table: 'figure_derivation', key: 'fid' },
      { table: 'agent_figure', key: 'fid' },
    ],
  },
  /** Sums over the whole directory, in parts. Keys: parts of agents by FID, of addresses, of a chain's registrations by id. */
  totals: {
    marks: [
      { table: 'agent', on: ['insert', 'delete'], key: agentPart },
      {
        table: 'agent',
        on: ['update'],
        key: agentPart,
        from: 'moved join were using (fid) where (moved.claimed, moved.chains) is distinct from (were.claimed, were.chains)',
      },
      {
        table: 'agent',
        on: ['insert', 'delete'],
        key: addressPart('address'),
        from: 'moved cross join unnest(moved.verified_addresses) as address',
      },
      {
        table: 'agent',
        on: ['update'],
        key: addressPart('address'),
        from: `moved join were using (fid) cross join unnest(were.verified_addresses || moved.verified_addresses) as address
     where moved.verified_addresses <> were.verified_addresses`,
      },
      { table: 'recipient_counts', key: addressPart('moved.address') },
      {
        table: 'registration_transfer',
        on: ['insert', 'delete'],
        key: addressPart('moved."to"'),
        from: 'moved where moved."to" is not null',
      },
      { table: 'registration', on: ['insert', 'delete'], key: supplyPart },
      {
        table: 'registration',
        on: ['update'],
        key: supplyPart,
        from: 'moved join were using (id) where moved.burned <> were.burned',
      },
    ],
    all: [
      { table: 'agent moved', key: agentPart },
      { table: 'agent cross join unnest(verified_addresses) as address', key: addressPart('address') },
      { table: 'registration_transfer', key: addressPart('"to"') },
      { table: 'registration moved', key: supplyPart },
      { table: 'directory_sum', key: 'part' },
    ],
  },
  /**
   * What the transparency log is to have. Keys: events of claims, words of accounts on their listing, changes of the directory,
   * certificates of blocks, and hubs from when they are followed.
   */
  'logged facts': {
    marks: [
      { table: 'claim_event', on: ['insert'], key: claimEvent },
      { table: 'claim_action', on: ['insert'], key: listingWord, from: `moved where action <> 'withdraw'` },
      { table: 'agent_change', on: ['insert'], key: change, from: `moved where ${isTold}` },
      { table: 'backfill', on: ['insert', 'update'], key: backfillDone, from: 'moved where completed_at is not null' },
      { table: 'audit_certificate', on: ['insert', 'update'], key: audited },
      {
        table: 'hub_standing',
        on: ['insert', 'update'],
        key: hubFollowed,
        from: 'moved where followed_since is not null',
      },
    ],
    all: [
      { table: 'claim_event', key: claimEvent },
      { table: `claim_action where action <> 'withdraw'`, key: listingWord },
      { table: `agent_change where ${isTold}`, key: change },
      { table: 'backfill where completed_at is not null', key: backfillDone },
      { table: 'audit_certificate', key: audited },
      { table: 'hub_standing where followed_since is not null', key: hubFollowed },
    ],
  },
} as const satisfies Record<string, Kind>

export type KindName = keyof typeof kinds

function hex(column: string): string {
  return `encode(${column}, 'hex')`
}

/** Registrations that addresses hold now. */
function heldBy(from: string, address: string) {
  return { key: `r.chain || ':' || r.agent_id`, from: `${from} join registration r on r.owner = ${address}` }
}

/** Key of the hour that a time is in: the recipient, the chain, and hours since 1970. */
export function hourKey(recipient: string, chain: string, at: string): string {
  return `${hex(recipient)} || ':' || ${chain} || ':' || floor(extract(epoch from ${at}) / 3600)::bigint`
}

function isIncome(recipient: string): string {
  return `exists (select from income_address a where a.address = ${recipient})`
}

/** Rows that came or went in blocks that are rolled up. */
function rolledUp(columns: string): string {
  return `with rolled as materialized (
         select ${columns} from moved
          where not exists (select from settlement_unrolled u
                             where u.chain = moved.chain and moved.block_number between u.from_block and u.to_block))`
}

/** Payments in blocks that became rolled up, or are no longer: between where a mark was and where it is. */
function paidBetween(marks: string, chain: string, before: string): string {
  return `${marks}
     cross join lateral (
       select p.payee as recipient, p.chain, p.block_timestamp as at
         from payment p
        where p.chain = ${chain} and p.block_number >= least(${before}, moved.next_block)
          and p.block_number < greatest(${before}, moved.next_block)
       offset 0) paid
     where ${isIncome('paid.recipient')}`
}

/** Addresses whose search saw a payer that has paid since. */
function addressesReached() {
  return { key: hex('r.address'), from: 'moved join income_reach r on r.payer = moved.payer' }
}
