import type { Queryable } from '../../pool.ts'

/** SQL: FIDs that ever made a claim, acted on one, or unlisted themselves. */
const spoken = 'select fid from claim union select fid from claim_action union select fid from unlisted'

/**
 * Tables of data that cannot be re-derived from chains or hubs: claims and their events, owners' actions, and the
 * messages and keys behind them as they were when they counted. In the order in which they can be written.
 */
const tables = {
  claim: { key: 'fid, method, nonce' },
  claim_event: { key: 'fid, seq' },
  claim_action: { key: 'fid, action, method, nonce' },
  unlisted: { key: 'fid' },
  farcaster_message: { key: 'fid, hash', of: spoken },
  signer_key: { key: 'fid, key', of: spoken },
  custody_reading: { key: 'fid', of: spoken },
} as const satisfies Record<string, { readonly key: string; readonly of?: string }>
export type RecordTable = keyof typeof tables
export const recordTables = Object.keys(tables) as RecordTable[]

/** Rows read or written at a time. */
export const recordPage = 500

/**
 * The rows of a table of the record as JSON, each with the columns' names and byte for byte what is stored, in the order
 * of their key. In a transaction; one table at a time.
 */
export async function* readRecord(db: Queryable, table: RecordTable): AsyncGenerator<readonly string[]> {
  const { key, of } = { of: undefined, ...tables[table] }
  const own = of ? ` where fid in (${of})` : ''
  await db.query(`declare record cursor for select row_to_json(t)::text as row from ${table} t${own} order by ${key}`)
  while (true) {
    const { rows } = await db.query<{ row: string }>(`fetch ${recordPage} from record`)
    if (rows.length > 0) yield rows.map(({ row }) => row)
    if (rows.length < recordPage) break
  }
  await db.query('close record')
}

/** Prevents others from writing to the record until the transaction ends. Returns the tables that have rows. */
export async function holdRecord(db: Queryable): Promise<RecordTable[]> {
  await db.query(`lock table ${recordTables.join(', ')} in share row exclusive mode`)
  const filled: RecordTable[] = []
  for (const table of recordTables) {
    const { rows } = await db.query<{ filled: boolean }>(`select exists (select from ${table}) as filled`)
    if (rows[0]?.filled) filled.push(table)
  }
  return filled
}

/** Adds rows of a table, as `readRecord` gave them. Call under `holdRecord`, tables in their order. */
export async function writeRecord(db: Queryable, table: RecordTable, rows: readonly string[]): Promise<void> {
  await db.query({
    name: `write-record-${table}`,
    text: `
insert into ${table}
select r.*
  from unnest($1::text[]) with ordinality as given (row, place)
 cross join lateral json_populate_record(null::${table}, given.row::json) as r
 order by given.place`,
    values: [rows],
  })
  // Their events end them again.
  if (table === 'claim')
    await db.query(`update claim set state = 'live', ended_at = null, end_reason = null where state <> 'live'`)
}

/** Whether every claim has the event that it was made by. */
export async function everyClaimHasEvent(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ every: boolean }>(`
select not exists (
  select from claim c
   where not exists (select from claim_event e
                      where (e.fid, e.method, e.nonce) = (c.fid, c.method, c.nonce) and e.kind = 'claimed')) as every`)
  return rows[0]?.every === true
}
