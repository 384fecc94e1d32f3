import pg from 'pg'
import type { BlockRange } from '../../block-range.ts'
import type { Queryable } from '../../pool.ts'
import { copiedColumns } from './settlement-copy.ts'
import type { StagingTable } from './staging-partitions.ts'

// While a backfill loads a partition's staging table, the partition itself receives rows of the processor and other
// backfills. These are copied into the staging table.

/**
 * The first blocks of a partition whose rows are not in its staging table yet and do not change any more: the processor's up to
 * its final block, and what other backfills have committed. Undefined: there are none.
 */
export async function nextToCopy(
  db: Queryable,
  chain: string,
  { partition }: StagingTable,
): Promise<BlockRange | undefined> {
  const { rows } = await db.query<BlockRange>(
    `
with own as (select backfill_id as id, copied, int4multirange(int4range(first_block, last_block, '[]')) as blocks
               from backfill_partition where partition = $2),
settled as (
  select int4multirange(int4range(0, finalized_block, '[]'))
         - coalesce((select range_agg(int4range(from_block, to_block, '[]')) from backfill where chain = $1), '{}') as blocks
    from chain_state where chain = $1
   union all
  select int4multirange(int4range(shard.first_block, shard.next_block))
    from backfill b join backfill_shard shard on shard.backfill_id = b.id
   where b.chain = $1 and b.id <> (select id from own)
)
select lower(todo) as "fromBlock", upper(todo) - 1 as "toBlock"
  from own, unnest((select range_agg(blocks) from settled) * own.blocks - own.copied) as todo
 order by todo
 limit 1`,
    [chain, partition],
  )
  return rows[0]
}

/** Copies the rows of some blocks into the staging table, as those of final blocks. */
export async function copyToStaging(
  db: Queryable,
  chain: string,
  { partition, table }: StagingTable,
  { fromBlock, toBlock }: BlockRange,
): Promise<void> {
  await db.query(
    `insert into ${pg.escapeIdentifier(table)} ${copiedColumns}
     select ${copiedColumns.slice(1, -1)} from ${pg.escapeIdentifier(partition)}
      where chain = $1 and block_number between $2 and $3`,
    [chain, fromBlock, toBlock],
  )
  await db.query('update backfill_partition set copied = copied + $2::int4multirange where partition = $1', [
    partition,
    blocksOf({ fromBlock, toBlock }),
  ])
}

/** The blocks of a partition whose rows are not in its staging table. Named one by one: the planner then finds them by the key. */
async function uncopiedBlocks(db: Queryable, partition: string): Promise<BlockRange[]> {
  const { rows } = await db.query<BlockRange>(
    `select lower(blocks) as "fromBlock", upper(blocks) - 1 as "toBlock"
       from backfill_partition own,
            unnest(int4multirange(int4range(own.first_block, own.last_block, '[]')) - own.copied) as rest (blocks)
      where own.partition = $1`,
    [partition],
  )
  return rows
}

/** Number of rows that are not in the staging table yet, counted up to about `limit`. */
export async function countUncopied(
  db: Queryable,
  chain: string,
  { partition }: StagingTable,
  limit: number,
): Promise<number> {
  let counted = 0
  for (const { fromBlock, toBlock } of await uncopiedBlocks(db, partition)) {
    const { rows } = await db.query<{ rows: number }>(
      `select count(*)::int as rows
         from (select from ${pg.escapeIdentifier(partition)}
                where chain = $1 and block_number between $2 and $3 limit $4) as counted`,
      [chain, fromBlock, toBlock, limit - counted],
    )
    counted += rows[0]?.rows ?? 0
  }
  return counted
}

/** Copies all remaining rows, in the transaction that has locked the partition. */
export async function copyRemaining(db: Queryable, chain: string, { partition, table }: StagingTable): Promise<void> {
  for (const { fromBlock, toBlock } of await uncopiedBlocks(db, partition)) {
    await db.query(
      `insert into ${pg.escapeIdentifier(table)}
       select * from ${pg.escapeIdentifier(partition)} where chain = $1 and block_number between $2 and $3`,
      [chain, fromBlock, toBlock],
    )
  }
}

/** Deletes the copies of some blocks from every staging table of a chain, because the rows themselves are deleted. */
export async function deleteCopies(db: Queryable, chain: string, blocks: BlockRange): Promise<void> {
  const { rows } = await db.query<{ partition: string; table: string }>(
    `select p.partition, p.staging_table as "table" from backfill_partition p join backfill b on b.id = p.backfill_id
      where b.chain = $1 and p.copied && $2::int4multirange`,
    [chain, blocksOf(blocks)],
  )
  for (const { partition, table } of rows) {
    await db.query(
      `delete from ${pg.escapeIdentifier(table)} where block_number <@ (
         select copied * $2::int4multirange from backfill_partition where partition = $1)`,
      [partition, blocksOf(blocks)],
    )
    await db.query('update backfill_partition set copied = copied - $2::int4multirange where partition = $1', [
      partition,
      blocksOf(blocks),
    ])
  }
}

function blocksOf({ fromBlock, toBlock }: BlockRange): string {
  return `{[${Math.trunc(fromBlock)},${Math.trunc(toBlock) + 1})}`
}
