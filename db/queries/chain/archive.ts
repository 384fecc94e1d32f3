import pg from 'pg'
import type { BlockRange } from '../../block-range.ts'
import { kinds } from '../../due/kinds.ts'
import type { Kind } from '../../due/mark.ts'
import { lockClasses } from '../../lock-keys.ts'
import type { Queryable } from '../../pool.ts'
import { isListed } from '../sql/settlement-filter.ts'

/** Totals of settlements: their number, their amount in base units, and the checksum of certificates. */
interface Sums {
  readonly settlements: number
  readonly amount: bigint
  readonly checksum: bigint
}

/** Blocks of an archived partition with no certificate ending inside them, and the totals of their settlements. */
export interface ArchivePiece extends BlockRange, Sums {}

/** A partition of a chain's settlements. */
export interface BlockPartition extends BlockRange {
  readonly name: string
  /** Size of its table with all indexes. */
  readonly bytes: number
}

/** How far a chain is archived. */
interface Archived {
  readonly toBlock: number
  /** Nothing up to this block changes any more. */
  readonly sealedTo: number
}

/** How far the chain is archived; undefined: nothing is. */
export async function readArchived(db: Queryable, chain: string): Promise<Archived | undefined> {
  const { rows } = await db.query<Archived>({
    name: 'read-archived',
    text: `select to_block as "toBlock", sealed_to as "sealedTo" from settlement_archived where chain = $1`,
    values: [chain],
  })
  return rows[0]
}

/** The partitions of a chain that end before a block, ascending. */
export async function partitionsBefore(db: Queryable, chain: string, block: number): Promise<BlockPartition[]> {
  const { rows } = await db.query<BlockPartition>({
    text: `
select c.oid::regclass::text as name, bound.first as "fromBlock", bound.next - 1 as "toBlock",
       pg_total_relation_size(c.oid) as bytes
  from pg_inherits
  join pg_class c on c.oid = inhrelid
 cross join lateral (
   select substring(text from 'FROM \\((\\d+)\\)')::int as first, substring(text from 'TO \\((\\d+)\\)')::int as next
     from pg_get_expr(c.relpartbound, c.oid) text
 ) bound
 where inhparent = to_regclass('settlement_' || $1) and not inhdetachpending and bound.next <= $2
 order by bound.first`,
    values: [chain, block],
  })
  return rows
}

export async function countWithin(db: Queryable, chain: string, { fromBlock, toBlock }: BlockRange): Promise<number> {
  const { rows } = await db.query<{ settlements: number }>({
    text: 'select count(*) as settlements from settlement where chain = $1 and block_number between $2 and $3',
    values: [chain, fromBlock, toBlock],
  })
  return rows[0]?.settlements ?? 0
}

/** Block times of the first and last settlement in a range; nulls: there are none. */
export async function timesWithin(db: Queryable, chain: string, { fromBlock, toBlock }: BlockRange) {
  const edge = (order: string) => `(select block_timestamp from settlement
    where chain = $1 and block_number between $2 and $3 order by block_number ${order} limit 1)`
  const { rows } = await db.query<{ first: Date | null; last: Date | null }>({
    text: `select ${edge('')} as first, ${edge('desc')} as last`,
    values: [chain, fromBlock, toBlock],
  })
  return rows[0] ?? { first: null, last: null }
}

/** What keeps blocks from being archived. */
export interface Obstacles {
  /** Null: the chain is not indexed. */
  readonly finalizedBlock: number | null
  readonly isScoped: boolean
  /** Each null when there is none: blocks, both ends included. */
  readonly unaudited: [number, number] | null
  readonly loading: [number, number] | null
  readonly unrolled: [number, number] | null
  /** Hours and payments whose income waits. */
  readonly keysDue: number
}

/** SQL: keys that what is archived has to wait for. */
const keysDue = (Object.entries(kinds) as [string, Kind][])
  .flatMap(([kind, { beforeArchive }]) =>
    beforeArchive
      ? `select d.kind, d.key from due d cross join (values ($1, $3::int, $4::timestamptz)) archive (chain, block, until)
          where d.kind = '${kind}' and ${beforeArchive}`
      : [],
  )
  .join(' union ')

/** `sealedTo`: the block up to which nothing may change any more; `until`: block time of the range's newest row. */
export async function obstaclesOf(
  db: Queryable,
  chain: string,
  { fromBlock }: BlockRange,
  sealedTo: number,
  until: Date | null,
): Promise<Obstacles> {
  const { rows } = await db.query<Obstacles>({
    text: `
select (select finalized_block from chain_state where chain = $1) as "finalizedBlock",
       exists (select from settlement_scope where chain = $1) as "isScoped",
       (select array[next_block, least(to_block, $3)] from head_range
         where chain = $1 and from_block <= $3 and next_block <= least(to_block, $3) order by from_block limit 1) as unaudited,
       (select array[from_block, to_block] from backfill
         where chain = $1 and from_block <= $3 and to_block >= $2
           and (completed_at is null or exists (select from backfill_partition p where p.backfill_id = backfill.id))
         order by from_block limit 1) as loading,
       (select array[from_block, to_block] from settlement_unrolled
         where chain = $1 and from_block <= $3 and to_block >= $2 order by from_block limit 1) as unrolled,
       (select count(*)::int from (${keysDue}) waiting) as "keysDue"`,
    values: [chain, fromBlock, sealedTo, until],
  })
  return rows[0] as Obstacles
}

/** Stores sums of a partition, which tell the last settlement of a sum once its rows are archived. Returns the totals. */
export async function storeArchiveSums(db: Queryable, chain: string, { fromBlock, toBlock }: BlockRange) {
  await db.query('delete from settlement_archive_sum where chain = $1 and archive_block = $2', [chain, fromBlock])
  const { rows } = await db.query<{ settlements: number; amount: string }>({
    text: `
with stored as (
  insert into settlement_archive_sum (chain, recipient, payer, facilitator, overload, archive_block, first_at,
                                      first_paid_at, last_at, n, amount)
  select s.chain, s.recipient, s.payer, s.facilitator, not ${isListed('s.selector')}, $2::int, min(s.block_timestamp),
         min(s.block_timestamp) filter (where s.amount > 0), max(s.block_timestamp), count(*), sum(s.amount)
    from settlement s
   where s.chain = $1 and s.block_number between $2 and $3
   group by 1, 2, 3, 4, 5
   order by 1, 2, 3, 4, 5
  returning n, amount
)
select coalesce(sum(n), 0)::bigint as settlements, coalesce(sum(amount), 0)::text as amount from stored`,
    values: [chain, fromBlock, toBlock],
  })
  return { settlements: rows[0]?.settlements ?? 0, amount: BigInt(rows[0]?.amount ?? 0) }
}

/** Records a partition as archived: from here on the files are the only copy of its rows. */
export async function recordArchive(
  db: Queryable,
  chain: string,
  { name, fromBlock, toBlock }: Omit<BlockPartition, 'bytes'>,
  sealedTo: number,
  pieces: readonly ArchivePiece[],
): Promise<void> {
  await db.query({
    text: `
insert into settlement_archive (chain, from_block, to_block, sealed_to, partition, last_at, available_since)
select $1, $2::int, $3::int, $4::int, $5,
       (select block_timestamp from settlement where chain = $1 and block_number between $2::int and $3::int
         order by block_number desc limit 1),
       (select block_timestamp from settlement where chain = $1 and block_number > $3::int order by block_number limit 1)`,
    values: [chain, fromBlock, toBlock, sealedTo, name],
  })
  await db.query({
    text: `
insert into settlement_archive_piece (chain, from_block, to_block, settlements, amount, checksum)
select $1, * from unnest($2::int[], $3::int[], $4::bigint[], $5::numeric[], $6::numeric[])`,
    values: [
      chain,
      pieces.map((piece) => piece.fromBlock),
      pieces.map((piece) => piece.toBlock),
      pieces.map(({ settlements }) => settlements),
      pieces.map(({ amount }) => String(amount)),
      pieces.map(({ checksum }) => String(checksum)),
    ],
  })
}

/** Totals of the archived settlements of a range; pieces that extend beyond it are not counted. */
export async function archivedSums(db: Queryable, chain: string, { fromBlock, toBlock }: BlockRange): Promise<Sums> {
  const { rows } = await db.query<{ settlements: number; amount: string; checksum: string }>({
    name: 'archived-sums',
    text: `
select coalesce(sum(settlements), 0)::bigint as settlements, coalesce(sum(amount), 0)::text as amount,
       (coalesce(sum(checksum), 0) % 18446744073709551616)::text as checksum
  from settlement_archive_piece
 where chain = $1 and from_block >= $2 and to_block <= $3`,
    values: [chain, fromBlock, toBlock],
  })
  const { settlements = 0, amount = 0, checksum = 0 } = rows[0] ?? {}
  return { settlements, amount: BigInt(amount), checksum: BigInt(checksum) }
}

/** The pieces of an archived partition, ascending. */
export async function archivePieces(db: Queryable, chain: string, { fromBlock, toBlock }: BlockRange) {
  type Stored = BlockRange & { settlements: number; amount: string; checksum: string }
  const { rows } = await db.query<Stored>({
    text: `
select from_block as "fromBlock", to_block as "toBlock", settlements, amount::text, checksum::text
  from settlement_archive_piece
 where chain = $1 and from_block between $2 and $3
 order by from_block`,
    values: [chain, fromBlock, toBlock],
  })
  return rows.map((row): ArchivePiece => ({ ...row, amount: BigInt(row.amount), checksum: BigInt(row.checksum) }))
}

/** An archived partition; `attached`: its table is still one of the chain's, `pending`: half detached. */
interface StoredArchive extends BlockRange {
  readonly name: string
  readonly isDropped: boolean
  readonly table: 'attached' | 'pending' | 'apart' | 'gone'
}

/** The archived partitions of a chain, ascending. */
export async function readArchives(db: Queryable, chain: string): Promise<StoredArchive[]> {
  const { rows } = await db.query<StoredArchive>({
    text: `
select a.partition as name, a.from_block as "fromBlock", a.to_block as "toBlock", a.dropped_at is not null as "isDropped",
       case when c.oid is null then 'gone' when i.inhrelid is null then 'apart'
            when i.inhdetachpending then 'pending' else 'attached' end as "table"
  from settlement_archive a
  left join pg_class c on c.oid = to_regclass(quote_ident(a.partition))
  left join pg_inherits i on i.inhrelid = c.oid
 where a.chain = $1
 order by a.from_block`,
    values: [chain],
  })
  return rows
}

/** Waits until nobody else detaches a partition of the chain, and keeps others from it until the connection ends. */
export async function lockDetachment(db: Queryable, chainId: number): Promise<void> {
  await db.query('select pg_advisory_lock($1, $2)', [lockClasses.detachment, chainId])
}

/** Keeps the chain's partitions from being detached until the transaction ends. False: one is being detached. */
export async function keepDetachmentsAway(db: Queryable, chainId: number): Promise<boolean> {
  // A detachment waits for statements that began before it ends, so that nothing may wait for the lock here.
  const { rows } = await db.query<{ taken: boolean }>('select pg_try_advisory_xact_lock($1, $2) as taken', [
    lockClasses.detachment,
    chainId,
  ])
  return rows[0]?.taken ?? false
}

/** Detaches a partition concurrently, without blocking readers; not inside a transaction. */
export async function detachPartition(db: Queryable, chain: string, partition: string): Promise<void> {
  await db.query(
    `alter table ${pg.escapeIdentifier(`settlement_${chain}`)} detach partition ${pg.escapeIdentifier(partition)} concurrently`,
  )
}

/** Completes an interrupted concurrent detachment. */
export async function finishDetaching(db: Queryable, chain: string, partition: string): Promise<void> {
  await db.query(
    `alter table ${pg.escapeIdentifier(`settlement_${chain}`)} detach partition ${pg.escapeIdentifier(partition)} finalize`,
  )
}

export async function noteDropped(db: Queryable, chain: string, fromBlock: number): Promise<void> {
  await db.query('update settlement_archive set dropped_at = clock_timestamp() where chain = $1 and from_block = $2', [
    chain,
    fromBlock,
  ])
}

/** Creates an empty table of a partition's shape, without indexes; drops one that an earlier attempt left. */
export async function createApart(db: Queryable, partition: string, storage: string): Promise<void> {
  const table = pg.escapeIdentifier(partition)
  await db.query(`drop table if exists ${table}`)
  await db.query(`create table ${table} (like settlement including defaults) with ${storage}`)
}

/** Attaches a table as a partition; its check constraint must prove the bounds already. */
export async function attachPartition(db: Queryable, chain: string, { name, fromBlock, toBlock }: StoredArchive) {
  const table = pg.escapeIdentifier(name)
  await db.query(
    `alter table ${pg.escapeIdentifier(`settlement_${chain}`)} attach partition ${table}
       for values from (${Math.trunc(fromBlock)}) to (${Math.trunc(toBlock) + 1})`,
  )
  await db.query(`alter table ${table} drop constraint bounds`)
}

/** Forgets an archive whose rows are in the database again. */
export async function deleteArchive(db: Queryable, chain: string, { fromBlock, toBlock }: BlockRange): Promise<void> {
  await db.query('delete from settlement_archive where chain = $1 and from_block = $2', [chain, fromBlock])
  await db.query('delete from settlement_archive_piece where chain = $1 and from_block between $2 and $3', [
    chain,
    fromBlock,
    toBlock,
  ])
  await db.query('delete from settlement_archive_sum where chain = $1 and archive_block = $2', [chain, fromBlock])
}
