import type { BlockRange } from '../../block-range.ts'
import type { Queryable } from '../../pool.ts'

// Registrations whose rows differ from the chain's events. Lists are JSON arrays of rows with the columns' names.

/** Rows that the events of a block range produce, each field a JSON array. */
export interface EventRows {
  /** Rows of `registration_transfer`. */
  readonly transfers: string
  /** Rows of `registration_metadata`, with the last values in the range. */
  readonly metadata: string
  /** Rows of `registration_wallet`. */
  readonly wallets: string
  /** Rows of `registration_approval`. */
  readonly approvals: string
  /** Rows of `registry_event`. */
  readonly events: string
  /** Objects with agent_id, updated_block and uri; uri null: the range did not set it. */
  readonly registrations: string
  /** Rows of `feedback`, without their revocations. */
  readonly feedback: string
  /** Rows of `feedback_response`. */
  readonly responses: string
  /** Revocations of feedback: objects with id, agent_id and revoked_block. */
  readonly revocations: string
}

/** Tables of which every row of a range is compared, with the list of its rows and a condition on what differs. */
const compared: readonly { readonly table: string; readonly list: string; readonly and?: string }[] = [
  { table: 'registration_transfer', list: '$4' },
  { table: 'registration_wallet', list: '$10' },
  { table: 'registration_approval', list: '$11' },
  { table: 'registry_event', list: '$12' },
  { table: 'feedback_response', list: '$9' },
  {
    table: 'registration_metadata',
    list: '$5',
    and: 'not exists (select from registration_metadata newer where newer.id = e.id and newer.block_number > $3)',
  },
]

const differing = `${compared
  .map(
    ({ table, list, and = 'true' }) => `
select e.agent_id, t.agent_id as stored
  from (select * from json_populate_recordset(null::${table}, ${list}::json)) e
  full join (select * from ${table} where chain = $1 and block_number between $2 and $3) t using (id)
 where to_jsonb(e) is distinct from to_jsonb(t) and ${and}`,
  )
  .join('\n union all')}
 union all
select e.agent_id, t.agent_id
  from json_to_recordset($6::json) as e (agent_id numeric, updated_block int, uri jsonb)
  full join (
    select * from registration
     where chain = $1
       and (updated_block between $2 and $3
            or agent_id in (select agent_id from json_to_recordset($6::json) as e (agent_id numeric)))) t
    on t.agent_id = e.agent_id
 where t.id is null or t.updated_block < e.updated_block
    or (t.updated_block <= $3 and t.updated_block is distinct from e.updated_block)
    or (e.uri is not null and e.uri <> jsonb_build_array(t.agent_uri, t.agent_uri_length, '\\x' || encode(t.agent_uri_sha256, 'hex')))
 union all
select e.agent_id, t.agent_id
  from (select * from json_populate_recordset(null::feedback, $7::json)) e
  full join (select * from feedback where chain = $1 and block_number between $2 and $3) t using (id)
 where to_jsonb(e) - '{revoked_block,revoked_at}'::text[]
       is distinct from to_jsonb(t) - '{revoked_block,revoked_at}'::text[]
 union all
select e.agent_id, t.agent_id
  from json_to_recordset($8::json) as e (id text, agent_id numeric, revoked_block int)
  full join (
    select * from feedback
     where chain = $1
       and (revoked_block between $2 and $3
            or id in (select id from json_to_recordset($8::json) as e (id text)))) t using (id)
 where e.id is null
    or (t.id is not null and (t.revoked_block is null or t.revoked_block < e.revoked_block
                              or (t.revoked_block <= $3 and t.revoked_block <> e.revoked_block)))`

/**
 * Ids of a chain's registrations whose rows differ from the events of a range. Rows that later events have changed are
 * compared only in part, so some are named in vain.
 */
export async function differingFrom(
  db: Queryable,
  chain: string,
  { fromBlock, toBlock }: BlockRange,
  rows: EventRows,
): Promise<bigint[]> {
  const { rows: found } = await db.query<{ agentId: string }>({
    name: 'differing-from-events',
    text: `select distinct coalesce(agent_id, stored) as "agentId" from (${differing}) d order by 1`,
    values: [
      chain,
      fromBlock,
      toBlock,
      rows.transfers,
      rows.metadata,
      rows.registrations,
      rows.feedback,
      rows.revocations,
      rows.responses,
      rows.wallets,
      rows.approvals,
      rows.events,
    ],
  })
  return found.map(({ agentId }) => BigInt(agentId))
}

/** A block that a stored row of a registration names, and the row's transaction (lowercase hex; null: not stored). */
interface NamedBlock {
  readonly blockNumber: number
  readonly txHash: string | null
}

/** Tables whose rows are kept one by one, each naming its block and transaction. */
const tables = [
  'registration_transfer',
  'registration_metadata',
  'registration_wallet',
  'registration_approval',
  'registry_event',
  'feedback',
  'feedback_response',
]

/** Blocks of a range that stored rows of some registrations name, ascending, `limit` at most. */
export async function blocksOfAgents(
  db: Queryable,
  chain: string,
  { fromBlock, toBlock }: BlockRange,
  agents: readonly bigint[],
  limit: number,
): Promise<NamedBlock[]> {
  const named = (table: string, block: string, tx: string) => `
select ${block} as block_number, ${tx} as tx_hash
  from ${table} where chain = $1 and agent_id = any ($4::numeric[]) and ${block} between $2 and $3`
  const { rows } = await db.query<NamedBlock>({
    name: 'blocks-of-agents',
    text: `
select distinct block_number as "blockNumber", '0x' || encode(tx_hash, 'hex') as "txHash" from (
${[
  ...tables.map((table) => named(table, 'block_number', 'tx_hash')),
  named('registration', 'updated_block', 'null::bytea'),
  named('feedback', 'revoked_block', 'null::bytea'),
].join('\n union all')}
) named
 order by 1, 2
 limit $5`,
    values: [chain, fromBlock, toBlock, agents.map(String), limit],
  })
  return rows
}

/** Queues registrations to be re-derived. */
export async function noteDiffering(db: Queryable, chain: string, agents: readonly bigint[]): Promise<void> {
  await db.query('insert into audit_agent (chain, agent_id) select $1, unnest($2::numeric[]) on conflict do nothing', [
    chain,
    agents.map(String),
  ])
}

/** Ids of the queued registrations whose turn it is, longest waiting first. */
export async function differingAgents(db: Queryable, chain: string, limit: number): Promise<bigint[]> {
  const { rows } = await db.query<{ agentId: string }>({
    name: 'differing-agents',
    text: `
select agent_id as "agentId" from audit_agent
 where chain = $1 and noted_at <= clock_timestamp()
 order by noted_at, agent_id
 limit $2`,
    values: [chain, limit],
  })
  return rows.map(({ agentId }) => BigInt(agentId))
}

/** Whether nothing has changed about a registration above a block: hot blocks are undone to what was there before them. */
export async function isQuietAbove(db: Queryable, chain: string, agentId: bigint, block: number): Promise<boolean> {
  const { rows } = await db.query<{ quiet: boolean }>({
    name: 'is-quiet-above',
    text: `
select not exists (select from registration where chain = $1 and agent_id = $2 and updated_block > $3)
   and not exists (select from feedback where chain = $1 and agent_id = $2 and revoked_block > $3) as quiet`,
    values: [chain, String(agentId), block],
  })
  return rows[0]?.quiet === true
}

/** URI of a registration as it is stored, or its SHA-256 (`\\x` and hex); undefined: none is stored. */
export async function storedUri(db: Queryable, chain: string, agentId: bigint) {
  const { rows } = await db.query<{ uri: string | null; sha256: string | null; updatedBlock: number }>({
    name: 'stored-uri',
    text: `
select agent_uri as uri, '\\x' || encode(agent_uri_sha256, 'hex') as sha256, updated_block as "updatedBlock"
  from registration
 where chain = $1 and agent_id = $2 and agent_uri_length is not null`,
    values: [chain, String(agentId)],
  })
  return rows[0]
}

const countedTables = tables.filter((table) => table !== 'registration_wallet')

/** Number of the rows that a registration's events have left, of those that are kept one by one. */
export async function countRowsOfAgent(db: Queryable, chain: string, agentId: bigint): Promise<number> {
  const { rows } = await db.query<{ rows: number }>({
    name: 'count-rows-of-agent',
    text: `
select (${countedTables.map((table) => `(select count(*) from ${table} where chain = $1 and agent_id = $2)`).join(' + ')})::float8 as rows`,
    values: [chain, String(agentId)],
  })
  return rows[0]?.rows ?? 0
}

/** Moves a registration to the end of the queue; `seconds`: its turn comes after them at the earliest. */
export async function putOff(db: Queryable, chain: string, agentId: bigint, seconds = 0): Promise<void> {
  await db.query(
    `update audit_agent set noted_at = clock_timestamp() + make_interval(secs => $3) where chain = $1 and agent_id = $2`,
    [chain, String(agentId), seconds],
  )
}

export async function forgetDiffering(db: Queryable, chain: string, agentId: bigint): Promise<void> {
  await db.query('delete from audit_agent where chain = $1 and agent_id = $2', [chain, String(agentId)])
}
