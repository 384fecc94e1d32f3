import { createHash } from 'node:crypto'
import type pg from 'pg'
import type { ChainName } from '../../config/chains.ts'
import type { PaymentKind } from '../../config/payments.ts'
import type { Queryable } from '../../db/pool.ts'
import { deriveSearchedAgents } from '../../db/queries/agents/agent-words.ts'
import { activityOf } from '../../db/queries/agents/lock.ts'
import { refreshRankings } from '../../db/queries/leaderboard/rankings.ts'
import { figureWindows } from '../../db/queries/rollup/figure-parts.ts'
import { refreshCounts } from '../../enrichment/periodic/rollup.ts'

// Rows as the processors and the enrichment job would have left them, for tests of what reads them.

/** 20 bytes that look like an address, always the same for a name. */
export const addressOf = (name: string) => `0x${digest(name).slice(0, 40)}`
/** 32 bytes, always the same for a name. */
export const hashOf = (name: string) => `0x${digest(name)}`

const digest = (name: string) => createHash('sha256').update(name).digest('hex')
const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')

export const birth = new Date('2026-03-01T00:00:00.000Z')

export interface SeedAgent {
  fid: number
  handle?: string | null
  displayName?: string | null
  bio?: string | null
  pfpUrl?: string | null
  oli?: string | null
  chains?: ChainName[]
  /** Lowercase hex; also written as live verifications. */
  addresses?: string[]
  claimMethod?: 'eip191' | 'jfs' | 'well-known' | null
  claimedAt?: Date | null
  status?: 'active' | 'historical' | 'claimed-only'
  registeredAt?: Date
  listedAt?: Date
  changedAt?: Date
  registryEventAt?: Date | null
  lastMessageAt?: Date | null
  hasSpec?: boolean
  hasCodehost?: boolean
  settlements30d?: number
  settlementsAll?: number
}

export async function seedAgent(pool: pg.Pool, agent: SeedAgent): Promise<void> {
  const addresses = [...(agent.addresses ?? [])].sort()
  const { handle = `agent${agent.fid}`, displayName = null, oli = null } = agent
  await insert(pool, 'agent', {
    fid: agent.fid,
    handle,
    display_name: displayName,
    bio: agent.bio ?? null,
    pfp_url: agent.pfpUrl ?? null,
    oli,
    chains: agent.chains ?? [],
    verified_addresses: addresses.map(bytes),
    claimed: Boolean(agent.claimMethod),
    claim_method: agent.claimMethod ?? null,
    claimed_at: agent.claimMethod ? (agent.claimedAt ?? birth) : null,
    agent_status: agent.status ?? 'active',
    registered_at: agent.registeredAt ?? birth,
    listed_at: agent.listedAt ?? birth,
    registry_event_at: agent.registryEventAt ?? null,
    last_message_at: agent.lastMessageAt ?? null,
    has_spec: agent.hasSpec ?? false,
    has_codehost: agent.hasCodehost ?? false,
    settlements_30d: agent.settlements30d ?? 0,
    settlements_all: agent.settlementsAll ?? 0,
    search: [handle, displayName, oli].map((text) => text?.toLowerCase() ?? '').join('\n'),
    changed_at: agent.changedAt ?? agent.listedAt ?? birth,
    entry_changed_at: agent.changedAt ?? agent.listedAt ?? birth,
  })
  await deriveSearchedAgents(pool, [agent.fid])
  for (const address of addresses) await seedVerification(pool, { fid: agent.fid, address })
}

/** Makes what searches look through what the agents and their words say, as their derivation does. */
export async function seedSearched(db: Queryable): Promise<void> {
  const found = 'select fid from agent union select fid from agent_words union select fid from searched_agent'
  const { rows } = await db.query(found)
  await deriveSearchedAgents(
    db,
    rows.map(({ fid }) => fid),
  )
}

/** Deletes agents that an SQL condition names, with what they are found by. Returns how many. */
export async function dropAgents(db: Queryable, condition: string, values: unknown[] = []): Promise<number> {
  const { rowCount } = await db.query(
    `with gone as (delete from agent where ${condition} returning fid)
     delete from searched_agent where fid in (select fid from gone)`,
    values,
  )
  return rowCount ?? 0
}

interface SeedFigure {
  fid: number
  /** Empty: all. */
  chain?: string
  own?: boolean
  /** Base units of income, in 30 days and ever. */
  earned: readonly [bigint, bigint]
}

/** A stored figure of an agent, with nothing but income. */
export async function seedFigure(pool: pg.Pool, { fid, chain = '', own = false, earned }: SeedFigure): Promise<void> {
  const zeros = figureWindows.flatMap((window) =>
    [window, `${window}_amount`, `${window}_payers`, `earned_${window}`, `earned_${window}_amount`].map((name) => [
      name,
      0,
    ]),
  )
  await insert(pool, 'agent_figure', {
    ...Object.fromEntries(zeros),
    fid,
    chain,
    own,
    earned_last_30d_amount: `${earned[0]}`,
    earned_ever_amount: `${earned[1]}`,
  })
}

export async function seedVerification(
  pool: pg.Pool,
  {
    fid,
    address,
    verifiedAt = birth,
    endedAt = null,
  }: { fid: number; address: string; verifiedAt?: Date; endedAt?: Date | null },
) {
  await insert(pool, 'verified_address', { fid, address: bytes(address), verified_at: verifiedAt, ended_at: endedAt })
}

interface SeedRegistration {
  chain: ChainName
  id: number | bigint
  /** Null: burned. */
  owner: string | null
  wallet?: string | null
  uri?: string | null
  block?: number
  at?: Date
}

export async function seedRegistration(pool: pg.Pool, registration: SeedRegistration): Promise<void> {
  const { chain, id, owner, wallet = null, uri = null, block = 100, at = birth } = registration
  await insert(pool, 'registration', {
    id: `${chain}-${id}`,
    chain,
    agent_id: String(id),
    owner: owner && bytes(owner),
    burned: owner === null,
    agent_wallet: wallet && bytes(wallet),
    agent_uri: uri,
    agent_uri_length: uri === null ? null : Buffer.byteLength(uri),
    registered_block: block,
    registered_at: at,
    registered_tx: bytes(hashOf(`${chain} mint ${id}`)),
    acquired_block: block,
    acquired_at: at,
    updated_block: block,
    updated_at: at,
  })
}

/** Inserts a registration that a stranger has sent to its owner, who has set nothing since. */
export async function seedSent(pool: pg.Pool, sent: SeedRegistration & { owner: string }): Promise<void> {
  const { chain, id, owner, block = 100, at = birth } = sent
  await seedRegistration(pool, sent)
  await insert(pool, 'registration_transfer', {
    id: `${chain}-${id}-sent`,
    chain,
    agent_id: String(id),
    from: bytes(addressOf('sender of registrations')),
    to: bytes(owner),
    block_number: block,
    log_index: 7,
    block_timestamp: at,
    tx_hash: bytes(hashOf(`${chain} sent ${id}`)),
  })
}

interface SeedWallet {
  chain?: ChainName
  id: number | bigint
  /** Null: unset. */
  wallet: string | null
  block: number
  logIndex?: number
  at: Date
}

export async function seedWallet(pool: pg.Pool, named: SeedWallet): Promise<void> {
  const { chain = 'base', id, wallet, block, logIndex = 0, at } = named
  const place = { chain, block_number: block, log_index: logIndex, block_timestamp: at }
  const tx_hash = bytes(hashOf(`${chain} ${block} ${logIndex}`))
  await insert(pool, 'registration_wallet', {
    ...place,
    id: `${chain}-${block}-${logIndex}`,
    agent_id: String(id),
    wallet: wallet && bytes(wallet),
    tx_hash,
  })
}

interface SeedCodes {
  block: number
  logIndex?: number
  facilitator?: string
  app?: string
  services?: readonly string[]
}

/** Stores the attribution codes (app, services) of a settlement or payment on Base. */
export async function seedCodes(pool: pg.Pool, codes: SeedCodes): Promise<void> {
  const { block, logIndex = 0, facilitator = null, app = null, services = [] } = codes
  await insert(pool, 'builder_code', {
    id: `base-${block}-${logIndex}`,
    chain: 'base',
    block_number: block,
    log_index: logIndex,
    facilitator,
    app,
    services,
  })
}

interface SeedHolding {
  fid: number
  chain: ChainName
  id: number | bigint
  by: string
  block?: number
  at?: Date
  unsolicited?: boolean
  released?: {
    reason: 'transfer' | 'burn' | 'verification_removed'
    block: number
    at: Date
    to?: string
    toFid?: number
  }
}

export async function seedHolding(pool: pg.Pool, holding: SeedHolding): Promise<void> {
  const { fid, chain, id, by, block = 100, at = birth, released, unsolicited = false } = holding
  await insert(pool, 'agent_holding', {
    fid,
    chain,
    agent_id: String(id),
    held_by: bytes(by),
    acquired_block: block,
    acquired_log_index: 0,
    acquired_at: at,
    released_block: released?.block ?? null,
    released_at: released?.at ?? null,
    released_tx: released ? bytes(hashOf(`${chain} release ${id}`)) : null,
    transferred_to: released?.to ? bytes(released.to) : null,
    to_fid: released?.toFid ?? null,
    reason: released?.reason ?? null,
    unsolicited,
  })
  const total = released ? 'historical_total' : 'current_total'
  await pool.query(`update agent set ${total} = ${total} + 1 where fid = $1`, [fid])
}

interface SeedSettlement {
  chain: ChainName
  recipient: string
  block: number
  logIndex?: number
  /** Millionths of a dollar. */
  amount?: bigint
  at?: Date
  payer?: string
  facilitator?: string
  selector?: string
  token?: string
}

export async function seedSettlement(pool: pg.Pool, settlement: SeedSettlement): Promise<void> {
  const { chain, recipient, block, logIndex = 0, amount = 1_500_000n, at = birth } = settlement
  const { payer = addressOf('payer'), facilitator = addressOf('facilitator'), selector = '0xe3ee160e' } = settlement
  const { token = addressOf('token') } = settlement
  await insert(pool, 'settlement', {
    amount: String(amount),
    block_timestamp: at,
    block_number: block,
    log_index: logIndex,
    chain,
    selector_source: 'c',
    selector: bytes(selector),
    token: bytes(token),
    payer: bytes(payer),
    recipient: bytes(recipient),
    facilitator: bytes(facilitator),
    payment_nonce: bytes(hashOf(`nonce ${chain} ${block} ${logIndex}`)),
    tx_hash: bytes(hashOf(`tx ${chain} ${block}`)),
  })
}

interface SeedPayment {
  chain?: ChainName
  kind: 'forwarded' | PaymentKind
  payee: string
  payer: string
  block: number
  logIndex?: number
  /** Base units of the token. */
  amount: bigint
  net?: bigint
  at: Date
  token?: string
  facilitator?: string
  forwarder?: string
  originLogIndex?: number
  depth?: number
  subject?: string
  fractionSign?: 1 | -1
}

export async function seedPayment(pool: pg.Pool, payment: SeedPayment): Promise<void> {
  const { chain = 'base', kind, payee, payer, block, logIndex = 0, amount, net = amount, at } = payment
  const { forwarder, originLogIndex = null, depth = null, subject, fractionSign = null } = payment
  const { token = addressOf('token'), facilitator = addressOf('facilitator') } = payment
  await insert(pool, 'payment', {
    id: `${chain}-${block}-${logIndex}`,
    chain,
    block_number: block,
    log_index: logIndex,
    block_timestamp: at,
    kind,
    token: bytes(token),
    payer: bytes(payer),
    payee: bytes(payee),
    gross: String(amount),
    net: String(net),
    facilitator: bytes(facilitator),
    tx_hash: bytes(hashOf(`tx ${chain} ${block}`)),
    forwarder: forwarder === undefined ? null : bytes(forwarder),
    origin_log_index: originLogIndex,
    depth,
    subject: subject ? bytes(subject) : null,
    fraction_sign: fractionSign,
  })
}

/** Counters of an agent, as the job stores them under the join's lock, which the caller holds. */
export async function countAgent(
  db: Queryable,
  { fid, settlements, newestAt }: { fid: number; settlements: number; newestAt: Date },
): Promise<void> {
  await db.query(
    `with active as (${activityOf('select fid from agent where fid = $1 and (settlements_30d, last_settlement_at) is distinct from ($2, $3)')})
     update agent set settlements_7d = $2, settlements_30d = $2, settlements_all = $2, last_settlement_at = $3 where fid = $1`,
    [fid, settlements, newestAt],
  )
}

/** Counts the settlements to agents so far and the whole directory, and ranks the agents, as a round of the job does. */
export async function countSettlements(pool: pg.Pool, now = new Date()): Promise<void> {
  const context = { pool, now: () => now, settlementOverloads: 'spec' } as const
  await refreshCounts(context)
  await refreshRankings(context)
}

export async function seedChainState(
  pool: pg.Pool,
  {
    chain,
    chainId = 1,
    indexed,
    finalized,
    at = new Date(),
  }: { chain: ChainName; chainId?: number; indexed: number; finalized: number; at?: Date },
) {
  await insert(pool, 'chain_state', {
    chain,
    chain_id: chainId,
    indexed_block: indexed,
    indexed_at: at,
    finalized_block: finalized,
    head_block: indexed,
    updated_at: at,
  })
}

/** One row; column names are the caller's own. */
export async function insert(pool: pg.Pool, table: string, row: Record<string, unknown>): Promise<void> {
  const columns = Object.keys(row)
  await pool.query(
    `insert into ${table} (${columns.map((column) => `"${column}"`).join(', ')}) values (${columns.map((_, index) => `$${index + 1}`).join(', ')})`,
    Object.values(row),
  )
}
