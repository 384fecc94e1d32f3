import pg from 'pg'
import type { Partitions } from '../../../../config/chains.row.ts'
import { type ChainName, chainOf } from '../../../../config/chains.ts'
import { maxBlock } from '../../../block-range.ts'
import { lockClasses } from '../../../lock-keys.ts'
import type { Queryable } from '../../../pool.ts'
import { limitLockWait } from '../../server/transaction-settings.ts'

/** Target maximum of rows per partition, so that it can be indexed, vacuumed or archived in minutes. */
const mostPartitionRows = 50_000_000
/** Smallest size of a partition, in blocks: a read by recipient visits every partition. */
const smallestStep = 250_000
/** Partitions that one call creates at most; needing more means that the head is wrong. */
const mostAtOnce = 500
/** Lock timeout while readers and writers wait behind the lock. */
const lockWaitMs = 1_000
/** How long others that change partitions are waited for, behind which nobody waits. */
const turnWaitMs = 30_000
const million = 1_000_000

/**
 * Storage parameters of settlement tables. These only grow: with the default scale factor a vacuum would run once a
 * week and take an hour.
 */
export const settlementStorage =
  '(autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 1000000)'

/**
 * Gives a chain's settlements their partitions up to a block: as many blocks each as the chain's row says, fewer when at
 * the density of the blocks before they would get more than `mostPartitionRows`. What is there stays. Call it in a
 * transaction. Readers and writers go on meanwhile; fails with SQLSTATE 55P03 while somebody else changes partitions.
 */
export async function ensurePartitions(
  db: Queryable,
  chain: ChainName,
  upTo: number,
  mostRows = mostPartitionRows,
): Promise<void> {
  await limitLockWait(db, turnWaitMs)
  await lockPartitions(db, chain)
  await limitLockWait(db, lockWaitMs)
  const whole = settlementsOf(chain)
  if (!(await isAttached(db, whole))) {
    await makeTable(db, whole, 'partition by range (block_number)')
    await attach(db, { name: whole, parent: 'settlement', bound: `in (${pg.escapeLiteral(chain)})` })
  }
  await extendPartitions(db, chain, upTo, mostRows)
}

/** Name of the table of a chain's settlements. */
const settlementsOf = (chain: ChainName) => `settlement_${chain}`

/** Waits until nobody else changes which partitions a chain has, and keeps others from it until the transaction ends. */
async function lockPartitions(db: Queryable, chain: ChainName): Promise<void> {
  await db.query('select pg_advisory_xact_lock($1, $2)', [lockClasses.partitions, chainOf(chain).id])
}

/** Gives the table of a chain's settlements empty partitions up to a block. */
async function extendPartitions(db: Queryable, chain: ChainName, upTo: number, mostRows: number): Promise<void> {
  for (let count = 0; ; count++) {
    const next = await nextPartition(db, chain, mostRows)
    if (next.firstBlock > upTo) return
    if (count === mostAtOnce) throw new Error(`${chain} has more than ${mostAtOnce} partitions to go to block ${upTo}`)
    await makeTable(db, next.name, `with ${settlementStorage}`)
    await attachRange(db, settlementsOf(chain), next)
  }
}

/** A partition by block; both ends inclusive. */
interface PartitionRange {
  readonly name: string
  readonly firstBlock: number
  readonly lastBlock: number
}

/** The partition that follows the last one of a chain. */
async function nextPartition(db: Queryable, chain: ChainName, mostRows: number): Promise<PartitionRange> {
  const { partitions } = chainOf(chain)
  const made = await readRanges(db, settlementsOf(chain))
  const first = made.at(-1)?.end ?? 0
  const end = Math.min(endOf(first, partitions, made, mostRows), maxBlock)
  return { name: nameOf(settlementsOf(chain), first), firstBlock: first, lastBlock: end - 1 }
}

/** Attaches an empty table to that of a chain's settlements. */
async function attachRange(
  db: Queryable,
  parent: string,
  { name, firstBlock, lastBlock }: PartitionRange,
): Promise<void> {
  await attach(db, { name, parent, bound: `from (${Math.trunc(firstBlock)}) to (${Math.trunc(lastBlock) + 1})` })
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

/**
 * End of the partition that begins at `first`. The newest one with rows is being filled, so the one before it counts as well.
 */
function endOf(first: number, { blocks, oneBelow }: Partitions, made: readonly Range[], mostRows: number): number {
  if (first < oneBelow) return oneBelow
  const filled = made.filter(({ rows }) => rows > 0).slice(-2)
  const density = Math.max(0, ...filled.map(({ first, end, rows }) => rows / (end - first)))
  let step = blocks
  // Whole steps of the smallest size, so that every partition begins at a block that its name can say.
  while (step > smallestStep && density * step > mostRows) step = Math.ceil(step / 2 / smallestStep) * smallestStep
  return first + step
}

/** Name of the partition that begins at a block: its number in millions, followed by thousands where needed. */
function nameOf(table: string, first: number): string {
  const name = `${table}_${String(Math.floor(first / million)).padStart(4, '0')}`
  return first % million === 0 ? name : `${name}_${String((first % million) / 1_000).padStart(3, '0')}`
}

/** Made and attached in two steps, because making it as a partition at once would lock out who reads the parent. */
async function makeTable(db: Queryable, name: string, kind: string): Promise<void> {
  await db.query(`create table ${pg.escapeIdentifier(name)} (like settlement including defaults) ${kind}`)
}

async function attach(db: Queryable, { name, parent, bound }: { name: string; parent: string; bound: string }) {
  await db.query(
    `alter table ${pg.escapeIdentifier(parent)} attach partition ${pg.escapeIdentifier(name)} for values ${bound}`,
  )
}
