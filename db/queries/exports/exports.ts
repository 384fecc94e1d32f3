import type pg from 'pg'
import type { Queryable } from '../../pool.ts'
import type { ChainStart } from '../settlements/settlement-starts.ts'

/** A view of the schema `directory` that can be exported: its sort key, and how `chain` and `since` filter it. */
interface ExportedView {
  /** Columns of a unique index, in its order, for keyset pagination. */
  readonly key: readonly [string, ...string[]]
  /** Condition on a chain's name; undefined: its rows belong to no chain. */
  readonly ofChain?: (parameter: string) => string
  /** Time column of which `since` is the earliest value. */
  readonly time: string
}

export const exportedViews = {
  agents: { key: ['fid'], ofChain: (chain) => `${chain} = any (chains)`, time: 'changed_at' },
  settlements: {
    key: ['chain', 'block_number', 'log_index'],
    ofChain: (chain) => `chain = ${chain}`,
    time: 'block_timestamp',
  },
  registrations: { key: ['chain', 'erc8004_id'], ofChain: (chain) => `chain = ${chain}`, time: 'updated_at' },
  claims: { key: ['fid', 'method', 'nonce'], time: 'claimed_at' },
  flagged_addresses: { key: ['chain', 'address', 'flag'], ofChain: (chain) => `chain = ${chain}`, time: 'since' },
} as const satisfies Record<string, ExportedView>
export type ExportedName = keyof typeof exportedViews

/** The column types the views have; a column of another type has to be given a form in every format first. */
export const exportTypes = [
  'text',
  'text[]',
  'boolean',
  'integer',
  'bigint',
  'numeric',
  'numeric(20,0)',
  'numeric(38,0)',
  'numeric(78,0)',
  'timestamp with time zone',
  'jsonb',
] as const
export interface ExportColumn {
  readonly name: string
  readonly type: (typeof exportTypes)[number]
}

/** Texts of a row's columns: digits as stored, t or f, ISO times with microseconds, arrays and objects as JSON. */
export type ExportRow = (string | null)[]

/** First block of a chain whose settlements are read from the database, and how archived ones before it are read. */
export interface ExportStart extends ChainStart {
  /** Next page of archived settlements, at most `limit`: the first one behind the key `after`; later ones continue. */
  readonly archived?: (after: readonly string[] | undefined, limit: number) => Promise<ExportRow[]>
}

export interface ExportFilter {
  readonly what: ExportedName
  readonly chain: string | undefined
  /** ISO time; rows of this time are included. */
  readonly since: string | undefined
  /** For settlements, which are read chain by chain: where each chain begins, so that older rows are not read. */
  readonly starts?: readonly ExportStart[]
}

/** Makes the transaction read one snapshot, read only; must be its first statement. */
export async function beginSnapshot(db: Queryable): Promise<void> {
  await db.query('set transaction isolation level repeatable read, read only')
}

/** Time of the transaction's snapshot: ISO with microseconds. */
export async function snapshotTime(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ at: string }>(`select ${isoMicroseconds('now()')} as at`)
  return (rows[0] as { at: string }).at
}

/** Minutes between the time that a transaction writes and the one when others see it, and between two clocks, at most. */
const lateMinutes = 5

/**
 * Whether an account that has taken itself out may stand in what was read at a time (ISO): it did so since then, or has left
 * the index for that since then, or so shortly before that the transaction may have ended later; of the last one it is said
 * when what was read is old enough that no such transaction is left.
 */
export async function isUnlistedSince(db: Queryable, at: string): Promise<boolean> {
  const { rows } = await db.query<{ unlisted: boolean }>(
    `select exists (select from unlisted where since > told.at)
         or exists (select from agent_change c join unlisted u using (fid)
                     where c.kind = 'delist' and c.changed_at > told.at) as unlisted
       from (select case when $1::timestamptz < now() - $2 * interval '1 minute'
                         then $1::timestamptz - $2 * interval '1 minute' else $1::timestamptz end as at) told`,
    [at, lateMinutes],
  )
  return rows[0]?.unlisted === true
}

/** Tries to lock a folder for writing until the transaction ends. False: another process has it. */
export async function tryLockExport(db: Queryable, folder: string): Promise<boolean> {
  const { rows } = await db.query<{ locked: boolean }>(
    `select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as locked`,
    [`export ${folder}`],
  )
  return rows[0]?.locked === true
}

/** The next page of rows behind the key `after`, at most `limit`, in key order. Fewer than `limit`: the last page. */
export async function exportPage(
  db: Queryable,
  filter: ExportFilter,
  columns: readonly ExportColumn[],
  { after, limit }: { after: readonly string[] | undefined; limit: number },
): Promise<ExportRow[]> {
  if (!filter.starts) return readPage(db, selection(filter, columns, after), filter.what, limit)
  const rows: ExportRow[] = []
  const reached = after ? filter.starts.findIndex(({ chain }) => chain === after[0]) : 0
  for (const [index, start] of filter.starts.slice(reached).entries()) {
    const behind = index === 0 ? after : undefined
    if (start.archived) rows.push(...(await start.archived(behind, limit - rows.length)))
    if (rows.length === limit) break
    const own = selection({ ...filter, chain: start.chain }, columns, behind, start.block)
    rows.push(...(await readPage(db, own, filter.what, limit - rows.length)))
    if (rows.length === limit) break
  }
  return rows
}

async function readPage(
  db: Queryable,
  { text, values }: { text: string; values: readonly string[] },
  what: ExportedName,
  limit: number,
): Promise<ExportRow[]> {
  const { key } = exportedViews[what]
  const page: pg.QueryArrayConfig = {
    text: `${text}\n order by ${key.map((name) => `view.${name}`).join(', ')}\n limit $${values.length + 1}`,
    values: [...values, limit],
    rowMode: 'array',
    types: { getTypeParser: () => (value: string | Buffer) => value },
  }
  const { rows } = await (db as pg.ClientBase).query<ExportRow>(page)
  return rows
}

/** How many rows there are, as the planner guesses from its statistics: counting them would take as long as reading. */
export async function estimateExport(db: Queryable, filter: ExportFilter): Promise<number> {
  const { text, values } = selection(filter, [], undefined)
  const { rows } = await db.query<{ 'QUERY PLAN': { Plan: { 'Plan Rows': number } }[] }>(
    `explain (format json) ${text}`,
    values,
  )
  return rows[0]?.['QUERY PLAN'][0]?.Plan['Plan Rows'] ?? 0
}

function selection(
  filter: ExportFilter,
  columns: readonly ExportColumn[],
  after: readonly string[] | undefined,
  fromBlock?: number,
) {
  const view: ExportedView = exportedViews[filter.what]
  const values: string[] = []
  const parameter = (value: string) => `$${values.push(value)}`
  const conditions: string[] = []
  const ofChain = filter.chain !== undefined && view.ofChain
  if (ofChain) conditions.push(ofChain(parameter(filter.chain)))
  if (filter.since !== undefined) conditions.push(`${view.time} >= ${parameter(filter.since)}`)
  if (fromBlock !== undefined) conditions.push(`block_number >= ${parameter(String(fromBlock))}`)
  // Of one chain the rest of the key tells rows apart: of the whole, the planner takes hardly any row to be behind it, and
  // has all of them read and sorted for each page.
  const from = ofChain && view.key[0] === 'chain' ? 1 : 0
  const behind = after?.slice(from).map(parameter)
  if (behind) conditions.push(`(${view.key.slice(from).join(', ')}) > (${behind.join(', ')})`)
  const where = conditions.length > 0 ? `\n where ${conditions.join(' and ')}` : ''
  return { text: `select ${columns.map(textOf).join(', ')}\n  from directory.${filter.what} view${where}`, values }
}

function textOf({ name, type }: ExportColumn): string {
  if (type === 'timestamp with time zone') return `${isoMicroseconds(name)} as ${name}`
  if (type === 'text[]') return `to_json(${name})::text as ${name}`
  if (type === 'jsonb') return `${name}::text as ${name}`
  return name
}

const isoMicroseconds = (time: string) => `to_char(${time} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
