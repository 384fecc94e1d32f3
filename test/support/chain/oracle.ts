import type { ChainName } from '../../../config/chains.ts'
import type { Queryable } from '../../../db/pool.ts'

/** Table of the indexing state of each chain. */
const stateTable = { table: 'chain_state', order: 'chain', without: ['updated_at'] } as const

/**
 * The tables the processors write, in key order, without what may differ between two true indexes of one chain: the
 * id of a settlement (set on hot blocks only) and when a state was written.
 */
const tables = [
  { table: 'registration', order: 'agent_id', without: [] },
  { table: 'registration_transfer', order: 'block_number, log_index', without: [] },
  { table: 'registration_metadata', order: 'agent_id, key', without: [] },
  { table: 'registration_wallet', order: 'block_number, log_index', without: [] },
  { table: 'registration_approval', order: 'block_number, log_index', without: [] },
  { table: 'registration_operator', order: 'block_number, log_index', without: [] },
  { table: 'registry_event', order: 'block_number, log_index', without: [] },
  { table: 'feedback', order: 'agent_id, client, feedback_index', without: [] },
  { table: 'feedback_response', order: 'block_number, log_index', without: [] },
  { table: 'fid_custody', order: 'block_number, log_index', without: [] },
  { table: 'settlement', order: 'block_number, log_index', without: ['id'] },
  { table: 'payment', order: 'block_number, log_index', without: [] },
  { table: 'builder_code', order: 'block_number, log_index', without: [] },
  { table: 'exact_amount', order: 'block_number, log_index', without: [] },
  { table: 'unpaid_authorization', order: 'block_number, token', without: [] },
  stateTable,
] as const

/** One JSON text a row, by table; keys of a row in one order. */
export type ChainTables = Record<(typeof tables)[number]['table'], string[]>

/** Reads all rows of one chain; of settlements, only those from a block on. */
export async function readChainTables(db: Queryable, chain: ChainName, fromBlock = 0): Promise<ChainTables> {
  const read: Partial<ChainTables> = {}
  // One by one, by one connection: of many databases at once the server would run out of them.
  for (const one of tables) read[one.table] = await readTable(db, chain, one, fromBlock)
  return read as ChainTables
}

/**
 * Whether the database holds exactly these rows of the chain. The chain's state is compared first, so that a poll reads
 * no other table as long as the state differs.
 */
export async function holdsTables(db: Queryable, chain: ChainName, expected: ChainTables): Promise<boolean> {
  const state = await readTable(db, chain, stateTable)
  if (state.join() !== expected.chain_state.join()) return false
  return describeDifference(await readChainTables(db, chain), expected) === ''
}

async function readTable(db: Queryable, chain: ChainName, one: (typeof tables)[number], fromBlock = 0) {
  const { table, order, without } = one
  const { rows } = await db.query<{ row: string }>(
    `select (to_jsonb(t) - $2::text[])::text as row from ${table} t
      where chain = $1 and ${table === 'settlement' ? 'block_number >= $3' : '$3::int is not null'} order by ${order}`,
    [chain, without, fromBlock],
  )
  return rows.map(({ row }) => row)
}

/** Rows that a difference shows of each side, and characters of each row. */
const shownRows = 3
const shownCharacters = 400

/** Describes where two states of the tables differ: row counts and first rows of each side. Empty: they are equal. */
export function describeDifference(actual: ChainTables, expected: ChainTables): string {
  return tables
    .flatMap(({ table }) => {
      const surplus = rowsOnlyIn(actual[table], expected[table])
      const missing = rowsOnlyIn(expected[table], actual[table])
      if (surplus.length === 0 && missing.length === 0) return []
      const counts = `${actual[table].length} rows, expected ${expected[table].length}`
      const lines = [...shown('+', surplus), ...shown('-', missing)]
      return [`${table}: ${counts}; ${surplus.length} too many (+), ${missing.length} missing (-)`, ...lines]
    })
    .join('\n')
}

function rowsOnlyIn(rows: string[], others: string[]): string[] {
  const rest = new Map<string, number>()
  for (const row of others) rest.set(row, (rest.get(row) ?? 0) + 1)
  return rows.filter((row) => {
    const left = rest.get(row) ?? 0
    rest.set(row, left - 1)
    return left <= 0
  })
}

function shown(sign: string, rows: string[]): string[] {
  const lines = rows.slice(0, shownRows).map((row) => `  ${sign} ${row.slice(0, shownCharacters)}`)
  return rows.length > shownRows ? [...lines, `  ${sign} … ${rows.length - shownRows} more`] : lines
}
