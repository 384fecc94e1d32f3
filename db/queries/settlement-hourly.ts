import type { Queryable } from '../pool.ts'
import { isListed } from './selectors.ts'

/** Blocks, both ends inclusive. */
export interface BlockRange {
  readonly fromBlock: number
  readonly toBlock: number
}

/**
 * The first block of a chain that is not rolled up. The row stays locked until the transaction ends: whoever writes
 * the chain's hours holds it.
 */
export async function lockRollup(db: Queryable, chain: string): Promise<number> {
  const { rows } = await db.query<{ nextBlock: number }>({
    name: 'lock-rollup',
    text: 'select next_block as "nextBlock" from settlement_rollup where chain = $1 for update',
    values: [chain],
  })
  const [row] = rows
  if (!row) throw new Error(`settlement_rollup has no row of ${chain}; add one with next_block 0`)
  return row.nextBlock
}

/** A complete backfill with blocks that its chain is rolled up beyond and that are not rolled up themselves. */
export async function unrolledBackfill(
  db: Queryable,
  chain: string,
): Promise<(BlockRange & { readonly id: number }) | undefined> {
  const { rows } = await db.query<BlockRange & { id: number }>({
    name: 'unrolled-backfill',
    text: `
select b.id, coalesce(p.next_block, b.from_block) as "fromBlock", least(b.to_block, r.next_block - 1) as "toBlock"
  from backfill b
  join settlement_rollup r using (chain)
  left join settlement_rollup_backfill p on p.backfill_id = b.id
 where b.chain = $1 and b.completed_at is not null
   and coalesce(p.next_block, b.from_block) <= least(b.to_block, r.next_block - 1)
 order by b.from_block
 limit 1`,
    values: [chain],
  })
  return rows[0]
}

/** Last block of a range up to which there are about `limit` settlements; at least its first. */
export async function boundRange(
  db: Queryable,
  chain: string,
  { fromBlock, toBlock }: BlockRange,
  limit: number,
): Promise<number> {
  const { rows } = await db.query<{ block: number }>({
    name: 'bound-range',
    text: `
select block_number as block from settlement
 where chain = $1 and block_number between $2 and $3
 order by block_number
offset $4 limit 1`,
    values: [chain, fromBlock, toBlock, limit],
  })
  const beyond = rows[0]?.block
  return beyond === undefined ? toBlock : Math.max(fromBlock, beyond - 1)
}

/**
 * Adds the settlements of a range to the hours. Blocks that a backfill has claimed are left out, unless it is the one
 * named by `backfillId`: whoever sees its claim may also see its rows, and nobody sees the rows without the claim.
 * Call under `lockRollup`, and move what says so in the same transaction. Returns how many hours grew.
 */
export async function addToHours(
  db: Queryable,
  chain: string,
  { fromBlock, toBlock }: BlockRange,
  backfillId?: number,
): Promise<number> {
  const { rowCount } = await db.query({
    name: 'add-to-hours',
    text: `
insert into settlement_hourly as h (recipient, hour, chain, overload, first_block, last_block, n, amount)
select s.recipient, date_trunc('hour', s.block_timestamp, 'UTC'), $1, not ${isListed('s.selector')},
       min(s.block_number), max(s.block_number), count(*), sum(s.amount)
  from settlement s
 where s.chain = $1 and s.block_number between $2 and $3
   and not exists (select from backfill b
                    where b.chain = $1 and s.block_number between b.from_block and b.to_block
                      and b.id is distinct from $4::int)
 group by 1, 2, 4
    on conflict (recipient, hour, chain, overload) do update
   set first_block = least(h.first_block, excluded.first_block),
       last_block = greatest(h.last_block, excluded.last_block),
       n = h.n + excluded.n,
       amount = h.amount + excluded.amount`,
    values: [chain, fromBlock, toBlock, backfillId ?? null],
  })
  return rowCount ?? 0
}

export async function moveRollup(db: Queryable, chain: string, nextBlock: number): Promise<void> {
  await db.query({
    name: 'move-rollup',
    text: 'update settlement_rollup set next_block = $2 where chain = $1',
    values: [chain, nextBlock],
  })
}

export async function moveBackfillRollup(db: Queryable, backfillId: number, nextBlock: number): Promise<void> {
  await db.query({
    name: 'move-backfill-rollup',
    text: `
insert into settlement_rollup_backfill (backfill_id, next_block) values ($1, $2)
    on conflict (backfill_id) do update set next_block = excluded.next_block`,
    values: [backfillId, nextBlock],
  })
}

/**
 * Takes the blocks from `block` on out of a chain's hours: hours that reach that far are counted anew from the
 * settlements below it. Call under `lockRollup`.
 */
export async function rewindHours(db: Queryable, chain: string, block: number): Promise<void> {
  await db.query({
    name: 'rewind-hours',
    text: `
with gone as (
  delete from settlement_hourly where chain = $1 and last_block >= $2 and first_block >= $2
),
kept as (
  select h.recipient, h.hour, h.overload, min(s.block_number) as first_block, max(s.block_number) as last_block,
         count(*) as n, sum(s.amount) as amount
    from settlement_hourly h
    join settlement s on s.chain = $1 and s.recipient = h.recipient and s.block_number between h.first_block and $2 - 1
                     and date_trunc('hour', s.block_timestamp, 'UTC') = h.hour
                     and h.overload <> ${isListed('s.selector')}
   where h.chain = $1 and h.first_block < $2 and h.last_block >= $2
     and not exists (select from settlement_unrolled u
                      where u.chain = $1 and s.block_number between u.from_block and u.to_block)
   group by h.recipient, h.hour, h.overload
)
update settlement_hourly h
   set first_block = k.first_block, last_block = k.last_block, n = k.n, amount = k.amount
  from kept k
 where h.chain = $1 and (h.recipient, h.hour, h.overload) = (k.recipient, k.hour, k.overload)`,
    values: [chain, block],
  })
}

/** The chain is rolled up to below `block` at most, and so is every backfill of it; the hours have to say so too. */
export async function rewindRollup(db: Queryable, chain: string, block: number): Promise<void> {
  await db.query({
    name: 'rewind-rollup',
    text: `
with head as (
  update settlement_rollup set next_block = least(next_block, $2) where chain = $1
)
update settlement_rollup_backfill p
   set next_block = least(p.next_block, greatest($2, b.from_block))
  from backfill b
 where b.id = p.backfill_id and b.chain = $1`,
    values: [chain, block],
  })
}
