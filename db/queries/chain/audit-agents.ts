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
  /** Objects with agent_id, updated_block and uri; uri null: the range did not set it. */
  readonly registrations: string
  /** Rows of `feedback`, without their revocations. */
  readonly feedback: string
  /** Rows of `feedback_response`. */
  readonly responses: string
  /** Revocations of feedback: objects with id, agent_id and revoked_block. */
  readonly revocations: string
}

const differing = `
select e.agent_id, t.agent_id as stored
  from (select * from json_populate_recordset(null::registration_transfer, $4::json)) e
  full join (select * from registration_transfer where chain = $1 and block_number between $2 and $3) t using (id)
 where to_jsonb(e) is distinct from to_jsonb(t)
 union all
select e.agent_id, t.agent_id
  from (select * from json_populate_recordset(null::registration_wallet, $10::json)) e
  full join (select * from registration_wallet where chain = $1 and block_number between $2 and $3) t using (id)
 where to_jsonb(e) is distinct from to_jsonb(t)
 union all
select e.agent_id, t.agent_id
  from (select * from json_populate_recordset(null::feedback_response, $9::json)) e
  full join (select * from feedback_response where chain = $1 and block_number between $2 and $3) t using (id)
 where to_jsonb(e) is distinct from to_jsonb(t)
 union all
select e.agent_id, t.agent_id
  from (select * from json_populate_recordset(null::registration_metadata, $5::json)) e
  full join (select * from registration_metadata where chain = $1 and block_number between $2 and $3) t using (id)
 where to_jsonb(e) is distinct from to_jsonb(t)
   and not exists (select from registration_metadata newer where newer.id = e.id and newer.block_number > $3)
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
 * Queues the registrations of a chain whose rows differ from the events of a range, to be re-derived. Rows that later
 * events have changed are compared only in part, so some are queued in vain. Returns how many were queued.
 */
export async function noteDiffering(
  db: Queryable,
  chain: string,
  { fromBlock, toBlock }: BlockRange,
  rows: EventRows,
): Promise<number> {
  const { rows: noted } = await db.query<{ agents: number }>({
    name: 'note-differing-agents',
    text: `
with differing as (
  select distinct coalesce(agent_id, stored) as agent_id from (${differing}) d
),
noted as (
  insert into audit_agent (chain, agent_id) select $1, agent_id from differing on conflict do nothing
)
select count(*)::int as agents from differing`,
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
    ],
  })
  return noted[0]?.agents ?? 0
}

/** Ids of the queued registrations, longest waiting first. */
export async function differingAgents(db: Queryable, chain: string, limit: number): Promise<bigint[]> {
  const { rows } = await db.query<{ agentId: string }>({
    name: 'differing-agents',
    text: `select agent_id as "agentId" from audit_agent where chain = $1 order by noted_at, agent_id limit $2`,
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

/** Moves a registration to the end of the queue. */
export async function putOff(db: Queryable, chain: string, agentId: bigint): Promise<void> {
  await db.query('update audit_agent set noted_at = clock_timestamp() where chain = $1 and agent_id = $2', [
    chain,
    String(agentId),
  ])
}

export async function forgetDiffering(db: Queryable, chain: string, agentId: bigint): Promise<void> {
  await db.query('delete from audit_agent where chain = $1 and agent_id = $2', [chain, String(agentId)])
}
