import pg from 'pg'
import { inTransaction, type Queryable } from '../../pool.ts'
import { raiseIndexMemory } from '../server/transaction-settings.ts'
import { settlementStorage } from './partitions/settlement-partitions.ts'

/** A partition that holds rows itself. */
interface SettlementPartition {
  readonly name: string
  /** The partitioned table it belongs to. */
  readonly parent: string
  /** Blocks it takes, both ends included. */
  readonly firstBlock: number
  readonly lastBlock: number
}

/** A table that is loaded on the side and will take a partition's place. */
export interface StagingTable {
  readonly partition: string
  readonly table: string
  /** Blocks of the partition, both ends included. */
  readonly firstBlock: number
  readonly lastBlock: number
}

/**
 * The partitions of a chain that a range of blocks meets, that have no rows and for which there is no staging table.
 * A partition without bounds of its own is left out.
 */
export async function emptyPartitions(
  db: Queryable,
  chain: string,
  fromBlock: number,
  toBlock: number,
): Promise<SettlementPartition[]> {
  const { rows } = await db.query<SettlementPartition>(
    `with leaf as (
       select c.oid::regclass::text as name, tree.parentrelid::regclass::text as parent,
              substring(bound from 'FROM \\((\\d+)\\)')::bigint as first_block,
              substring(bound from 'TO \\((\\d+)\\)')::bigint - 1 as last_block
         from pg_partition_tree(to_regclass('settlement_' || $1)) tree
         join pg_class c on c.oid = tree.relid, pg_get_expr(c.relpartbound, c.oid) bound
        where tree.isleaf)
     select name, parent, first_block::int as "firstBlock", last_block::int as "lastBlock"
       from leaf
      where first_block <= $3 and last_block >= $2
        and not exists (select from backfill_partition taken where taken.partition = leaf.name)
        and not exists (select from settlement s
                         where s.chain = $1 and s.block_number between first_block::int and last_block::int)
      order by first_block`,
    [chain, fromBlock, toBlock],
  )
  return rows
}

/** Makes an empty table of a partition's shape, without indexes, and notes what it is for. */
export async function createStaging(db: Queryable, backfillId: number, partition: SettlementPartition): Promise<void> {
  const table = `${partition.name}_load`
  await db.query(
    `create table ${pg.escapeIdentifier(table)} (like ${pg.escapeIdentifier(partition.name)} including defaults) with ${settlementStorage}`,
  )
  await noteStaging(db, backfillId, { ...partition, partition: partition.name, table })
}

async function noteStaging(db: Queryable, backfillId: number, staging: StagingTable): Promise<void> {
  await db.query(
    `insert into backfill_partition (partition, backfill_id, staging_table, first_block, last_block)
     values ($1, $2, $3, $4, $5)`,
    [staging.partition, backfillId, staging.table, staging.firstBlock, staging.lastBlock],
  )
}

/** The staging tables that are not in place yet, ascending. */
export async function readStaging(db: Queryable, backfillId: number): Promise<StagingTable[]> {
  const { rows } = await db.query<StagingTable>(
    `select partition, staging_table as "table", first_block as "firstBlock", last_block as "lastBlock"
       from backfill_partition where backfill_id = $1 order by first_block`,
    [backfillId],
  )
  return rows
}

/** Whether a table has got its key, as the last step of getting its indexes. */
async function isIndexed(db: Queryable, table: string): Promise<boolean> {
  const { rows } = await db.query<{ indexed: boolean }>(
    `select exists (select from pg_index where indrelid = $1::regclass and indisprimary) as indexed`,
    [pg.escapeIdentifier(table)],
  )
  return rows[0]?.indexed === true
}

/** The partitions' indexes besides their key, in two groups that take about as long. */
const indexes = [
  ['(recipient, block_number desc)', 'using hash (tx_hash)'],
  ['(payer, block_number desc)', '(facilitator, block_number desc)', '(id) where id is not null'],
]

/**
 * Gives a table that nobody writes to what a partition has: indexes, bounds and key. Builds two indexes at a time, each
 * with up to 256 MB. Idempotent. Throws with SQLSTATE 23505 when a row is there twice.
 */
export async function indexQuickly(pool: pg.Pool, chain: string, staging: StagingTable): Promise<void> {
  const { table } = staging
  if (await isIndexed(pool, table)) return
  await inTransaction(pool, (db) => dropIndexes(db, table))
  await Promise.all(indexes.map((some) => inTransaction(pool, (db) => addIndexes(db, table, some))))
  await inTransaction(pool, (db) => addBoundsAndKey(db, chain, staging))
  await analyze(pool, table)
}

/** Drops the indexes that an interrupted call has left; waits for one that is still being built for it. */
async function dropIndexes(db: Queryable, table: string): Promise<void> {
  await db.query(`lock table ${pg.escapeIdentifier(table)} in access exclusive mode`)
  const { rows } = await db.query<{ name: string }>(
    'select indexrelid::regclass::text as name from pg_index where indrelid = $1::regclass',
    [pg.escapeIdentifier(table)],
  )
  for (const { name } of rows) await db.query(`drop index ${name}`)
}

async function addIndexes(db: Queryable, table: string, definitions: readonly string[]): Promise<void> {
  await raiseIndexMemory(db)
  for (const definition of definitions) await db.query(`create index on ${pg.escapeIdentifier(table)} ${definition}`)
}

/** The key is the mark of a table that has all else. */
async function addBoundsAndKey(db: Queryable, chain: string, staging: StagingTable): Promise<void> {
  await raiseIndexMemory(db)
  await addBounds(db, chain, staging)
  await db.query(`alter table ${pg.escapeIdentifier(staging.table)} add primary key (chain, block_number, log_index)`)
}

/** Proves that a table's rows are a partition's, so that attaching it does not read them again. */
export async function addBounds(db: Queryable, chain: string, { table: name, firstBlock, lastBlock }: StagingTable) {
  const bounds = `chain is not null and chain = ${pg.escapeLiteral(chain)} and block_number is not null
        and block_number >= ${Math.trunc(firstBlock)} and block_number < ${Math.trunc(lastBlock) + 1}`
  const table = pg.escapeIdentifier(name)
  await db.query(`alter table ${table} drop constraint if exists bounds, add constraint bounds check (${bounds})`)
}

async function analyze(db: Queryable, table: string): Promise<void> {
  await db.query(`analyze ${pg.escapeIdentifier(table)}`)
}

/** Keeps autovacuum from a partition, which is told to leave it when somebody has waited for a second. Readers do not wait. */
export async function lockMaintenance(db: Queryable, partition: string): Promise<void> {
  await db.query(`lock table only ${pg.escapeIdentifier(partition)} in share update exclusive mode`)
}

/**
 * Keeps everybody from a partition. From the top down, as statements over `settlement` take their locks, so that none
 * of them can hold one that this waits for while it waits for one that this holds.
 */
export async function lockPartition(db: Queryable, partition: string): Promise<void> {
  const { parent } = await readParent(db, partition)
  for (const table of new Set(['settlement', parent, partition])) {
    await db.query(`lock table only ${pg.escapeIdentifier(table)} in access exclusive mode`)
  }
}

/** What takes a partition's place has to be attached like it. */
async function readParent(db: Queryable, partition: string): Promise<{ parent: string; bound: string }> {
  const { rows } = await db.query<{ parent: string; bound: string }>(
    `select inhparent::regclass::text as parent, pg_get_expr(relpartbound, c.oid) as bound
       from pg_inherits join pg_class c on c.oid = inhrelid
      where inhrelid = $1::regclass`,
    [pg.escapeIdentifier(partition)],
  )
  const row = rows[0]
  if (!row) throw new Error(`${partition} is no longer a partition`)
  return row
}

/** Puts a table in a partition's place and name. Call it in a transaction that has locked the partition. */
export async function replacePartition(db: Queryable, { partition, table }: StagingTable): Promise<void> {
  const { parent, bound } = await readParent(db, partition)
  const inside = pg.escapeIdentifier(partition)
  const outside = pg.escapeIdentifier(table)
  await db.query(`alter table ${pg.escapeIdentifier(parent)} detach partition ${inside}`)
  await db.query(`drop table ${inside}`)
  await db.query(`alter table ${outside} rename to ${inside}`)
  await db.query(`alter table ${pg.escapeIdentifier(parent)} attach partition ${inside} ${bound}`)
  await db.query(`alter table ${inside} drop constraint bounds`)
  await db.query('delete from backfill_partition where partition = $1', [partition])
}
