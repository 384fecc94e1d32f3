import type { Queryable } from '../../pool.ts'

// Replaces stored rows by those re-derived from the chain's events. Lists are JSON arrays of objects with the columns'
// names.

/** Numbers of rows that differed. */
interface Replaced {
  readonly missing: number
  readonly surplus: number
  readonly changed: number
}

/** Tables derived from a registration's events, with the column that has a row's block. */
const agentTables = {
  registration: 'updated_block',
  registration_metadata: 'block_number',
  registration_transfer: 'block_number',
  registration_wallet: 'block_number',
  feedback: 'block_number',
  feedback_response: 'block_number',
} as const

export type AgentTable = keyof typeof agentTables

/** Replaces the rows of a registration up to a block by these; rows that are equal already are not written. */
export function replaceRowsOfAgent(
  db: Queryable,
  table: AgentTable,
  { chain, agentId, toBlock }: { readonly chain: string; readonly agentId: bigint; readonly toBlock: number },
  rows: string,
): Promise<Replaced> {
  const where = `t.chain = $2 and t.agent_id = $3 and t.${agentTables[table]} <= $4`
  return replaceRows(db, table, where, [rows, chain, String(agentId), toBlock])
}

/** Replaces the custody changes in a range of blocks by the given ones. */
export function replaceCustody(
  db: Queryable,
  { chain, fromBlock, toBlock }: { readonly chain: string; readonly fromBlock: number; readonly toBlock: number },
  rows: string,
): Promise<Replaced> {
  const where = 't.chain = $2 and t.block_number between $3 and $4'
  return replaceRows(db, 'fid_custody', where, [rows, chain, fromBlock, toBlock])
}

async function replaceRows(
  db: Queryable,
  table: AgentTable | 'fid_custody',
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
