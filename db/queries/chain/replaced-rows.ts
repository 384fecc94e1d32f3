import type { BlockRange } from '../../block-range.ts'
import type { Queryable } from '../../pool.ts'

// Replaces stored rows by those re-derived from the chain's events. Lists are JSON arrays of objects with the columns'
// names.

/** Numbers of rows that differed. */
interface Replaced {
  readonly missing: number
  readonly surplus: number
  readonly changed: number
}

/** Tables derived from a registration's events: column of a row's block, SQL of all blocks it names, of its transaction. */
const agentTables = {
  registration: { block: 'updated_block', blocks: 'array[t.updated_block]', tx: 'null::bytea' },
  registration_metadata: { block: 'block_number', blocks: 'array[t.block_number]', tx: 't.tx_hash' },
  registration_transfer: { block: 'block_number', blocks: 'array[t.block_number]', tx: 't.tx_hash' },
  registration_wallet: { block: 'block_number', blocks: 'array[t.block_number]', tx: 't.tx_hash' },
  registration_approval: { block: 'block_number', blocks: 'array[t.block_number]', tx: 't.tx_hash' },
  registry_event: { block: 'block_number', blocks: 'array[t.block_number]', tx: 't.tx_hash' },
  feedback: { block: 'block_number', blocks: 'array[t.block_number, t.revoked_block]', tx: 't.tx_hash' },
  feedback_response: { block: 'block_number', blocks: 'array[t.block_number]', tx: 't.tx_hash' },
} as const

export type AgentTable = keyof typeof agentTables

/** A stored row that is not as expected. */
interface Other {
  /** Blocks that it names. */
  readonly blocks: readonly number[]
  /** Lowercase hex; null: not stored. */
  readonly txHash: string | null
  /** Whether no row is expected in its place. */
  readonly isSurplus: boolean
}

interface AgentRows {
  readonly chain: string
  readonly agentId: bigint
  readonly toBlock: number
}

const ofAgent = (table: AgentTable) => `t.chain = $2 and t.agent_id = $3 and t.${agentTables[table].block} <= $4`
const valuesOf = ({ chain, agentId, toBlock }: AgentRows, rows: string) => [rows, chain, String(agentId), toBlock]

/** Rows of a registration up to a block that are not as these, `limit` at most. */
export function otherRowsOfAgent(
  db: Queryable,
  table: AgentTable,
  of: AgentRows,
  rows: string,
  limit: number,
): Promise<Other[]> {
  const { blocks, tx } = agentTables[table]
  return otherRows(db, table, { where: ofAgent(table), blocks, tx, limit }, valuesOf(of, rows))
}

/** Replaces the rows of a registration up to a block by these; rows that are equal already are not written. */
export function replaceRowsOfAgent(db: Queryable, table: AgentTable, of: AgentRows, rows: string): Promise<Replaced> {
  return replaceRows(db, table, ofAgent(table), valuesOf(of, rows))
}

const ofRange = 't.chain = $2 and t.block_number between $3 and $4'

/** Tables of what the contracts logged about others than a registration, each row of one block. */
export type RangeTable = 'fid_custody' | 'registration_operator'

interface RowsOfRange extends BlockRange {
  readonly chain: string
}

/** Rows in a range of blocks that are not among the given ones, `limit` at most. */
export function otherRowsOfRange(
  db: Queryable,
  table: RangeTable,
  { chain, fromBlock, toBlock }: RowsOfRange,
  rows: string,
  limit: number,
): Promise<Other[]> {
  const of = { where: ofRange, blocks: 'array[t.block_number]', tx: 't.tx_hash', limit }
  return otherRows(db, table, of, [rows, chain, fromBlock, toBlock])
}

/** Replaces the rows in a range of blocks by the given ones. */
export function replaceRowsOfRange(
  db: Queryable,
  table: RangeTable,
  { chain, fromBlock, toBlock }: RowsOfRange,
  rows: string,
): Promise<Replaced> {
  return replaceRows(db, table, ofRange, [rows, chain, fromBlock, toBlock])
}

interface OtherRows {
  readonly where: string
  readonly blocks: string
  readonly tx: string
  readonly limit: number
}

async function otherRows(
  db: Queryable,
  table: AgentTable | RangeTable,
  { where, blocks, tx, limit }: OtherRows,
  values: readonly unknown[],
): Promise<Other[]> {
  const { rows } = await db.query<Other>({
    name: `other-rows-of-${table}`,
    text: `
with expected as materialized (select * from json_populate_recordset(null::${table}, $1::json))
select array_remove(${blocks}, null) as blocks, '0x' || encode(${tx}, 'hex') as "txHash",
       not exists (select from expected e where e.id = t.id) as "isSurplus"
  from ${table} t
 where ${where}
   and not exists (select from expected e where e.id = t.id and to_jsonb(e) = to_jsonb(t))
 order by t.id
 limit $5`,
    values: [...values, limit],
  })
  return rows
}

async function replaceRows(
  db: Queryable,
  table: AgentTable | RangeTable,
  where: string,
  values: readonly unknown[],
): Promise<Replaced> {
  const rows = `json_populate_recordset(null::${table}, $1::json)`
  const deleted = await db.query<{ id: string }>({
    name: `delete-other-rows-of-${table}`,
    text: `
with expected as materialized (select * from ${rows})
delete from ${table} t
 where ${where}
   and not exists (select from expected e where e.id = t.id and to_jsonb(e) = to_jsonb(t))
returning t.id`,
    values: [...values],
  })
  const added = await db.query<{ id: string }>({
    name: `add-rows-of-${table}`,
    text: `insert into ${table} select * from ${rows} on conflict do nothing returning id`,
    values: [values[0]],
  })
  const gone = new Set(deleted.rows.map(({ id }) => id))
  const changed = added.rows.filter(({ id }) => gone.has(id)).length
  return { missing: added.rows.length - changed, surplus: gone.size - changed, changed }
}
