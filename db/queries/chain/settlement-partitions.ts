import pg from 'pg'
import { type ChainName, chainOf } from '../../../chains.config.ts'
import { lockClasses } from '../../lock-keys.ts'
import type { Queryable } from '../../pool.ts'
import { limitLockWait } from '../server/transaction-settings.ts'

/** Target maximum of rows per partition, so that it can be indexed, vacuumed or archived in minutes. */
const mostPartitionRows = 50_000_000
/** Smallest size of a partition, in blocks: a read by recipient visits every partition. */
const smallestStep = 250_000
/** Partitions that one call creates at most; needing more means that the head is wrong. */
const mostAtOnce = 500
const lockWaitMs = 1_000
const million = 1_000_000

/**
 * Storage parameters of settlement tables. These only grow: with the default scale factor a vacuum would run once a
 * week and take an hour.
 */
export const settlementStorage =
  '(autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 1000000)'

/**
 * Gives a chain's settlements their partitions up to a block: as many blocks each as the chain's row says, fewer when at
 * the density of the blocks before they would get more than `mostPartitionRows`. What is there stays. To be called in a
 * transaction. Readers and writers go on meanwhile; fails with SQLSTATE 55P03 while somebody else changes partitions.
 */
export async function ensurePartitions(
  db: Queryable,
  chain: ChainName,
  upTo: number,
  mostRows = mostPartitionRows,
): Promise<void> {
  const { id, partitions } = chainOf(chain)
  await limitLockWait(db, lockWaitMs)
  await db.query('select pg_advisory_xact_lock($1, $2)', [lockClasses.partitions, id])
  const whole = `settlement_${chain}`
  if (!(await isAttached(db, whole))) {
    const bound = `in (${pg.escapeLiteral(chain)})`
    await addPartition(db, { name: whole, parent: 'settlement', bound, divided: partitions !== null })
  }
  if (!partitions) return
  const made = await readRanges(db, whole)
  let first = made.at(-1)?.end ?? 0
  for (let count = 0; first <= upTo; count++) {
    if (count === mostAtOnce) throw new Error(`${chain} has more than ${mostAtOnce} partitions to go to block ${upTo}`)
    const end = first < partitions.oneBelow ? partitions.oneBelow : first + stepOf(partitions.blocks, made, mostRows)
    await addPartition(db, { name: nameOf(whole, first), parent: whole, bound: `from (${first}) to (${end})` })
    first = end
  }
}

interface Range {
  readonly first: number
  readonly end: number
  /** Estimated number of rows (reltuples); -1: not known yet. */
  readonly rows: number
}

/**
 * Whether the partition exists. Throws when the name is another table's, as it would be for a chain called `hourly`.
 */
async function isAttached(db: Queryable, table: string): Promise<boolean> {
  const { rows } = await db.query<{ attached: boolean }>(
    'select relispartition as attached from pg_class where oid = to_regclass($1)',
    [table],
  )
  if (rows[0]?.attached === false) throw new Error(`${table} is a table already, so no chain can have that name`)
  return rows.length > 0
}

async function readRanges(db: Queryable, table: string): Promise<Range[]> {
  const { rows } = await db.query<Range>(
    `select substring(bound from 'FROM \\((\\d+)\\)')::int as first, substring(bound from 'TO \\((\\d+)\\)')::int as end,
            greatest(c.reltuples, -1)::float8 as rows
       from pg_inherits
       join pg_class c on c.oid = inhrelid, pg_get_expr(c.relpartbound, c.oid) bound
      where inhparent = $1::regclass and bound like 'FOR VALUES FROM%'
      order by 1`,
    [table],
  )
  return rows
}

/** The newest partition is being filled, so the one before it counts as well. */
function stepOf(blocks: number, made: readonly Range[], mostRows: number): number {
  const filled = made.filter(({ rows }) => rows > 0).slice(-2)
  const density = Math.max(0, ...filled.map(({ first, end, rows }) => rows / (end - first)))
  let step = blocks
  while (step / 2 >= smallestStep && density * step > mostRows) step /= 2
  return step
}

/** Name of the partition that begins at a block: its number in millions, followed by thousands where needed. */
function nameOf(table: string, first: number): string {
  const name = `${table}_${String(Math.floor(first / million)).padStart(4, '0')}`
  return first % million === 0 ? name : `${name}_${String((first % million) / 1_000).padStart(3, '0')}`
}

/** Made and attached in two steps, because making it as a partition at once would lock out who reads the parent. */
async function addPartition(
  db: Queryable,
  { name, parent, bound, divided = false }: { name: string; parent: string; bound: string; divided?: boolean },
): Promise<void> {
  const table = pg.escapeIdentifier(name)
  const whole = pg.escapeIdentifier(parent)
  const kind = divided ? 'partition by range (block_number)' : `with ${settlementStorage}`
  await db.query(`create table ${table} (like settlement including defaults) ${kind}`)
  await db.query(`alter table ${whole} attach partition ${table} for values ${bound}`)
}
