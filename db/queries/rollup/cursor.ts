import type { BlockRange } from '../../block-range.ts'
import { lockClasses } from '../../lock-keys.ts'
import type { Queryable } from '../../pool.ts'
import { addSums, type MovedSettlement, movedArrays, movedFacts, storedFacts, subtractSums } from './sums.ts'

/**
 * Locks a chain's roll-up until the transaction ends and returns its cursor, the first block that is not rolled up.
 * Every writer of the chain's sums takes this lock.
 */
export async function lockRollup(db: Queryable, chain: string): Promise<number> {
  return (await lockMark(db, chain)) ?? (await beginRollup(db, chain))
}

/**
 * As `lockRollup`, for writers of payments: these find who paid in each other under a lock of the chain, which comes before that
 * of the roll-up, as it does when the processor writes them.
 */
export async function lockPayments(db: Queryable, chain: string): Promise<number> {
  const text = 'select pg_advisory_xact_lock($1, hashtext($2))'
  await db.query({ name: 'lock-funders', text, values: [lockClasses.funders, chain] })
  return lockRollup(db, chain)
}

/** Inserts the roll-up's cursor of a chain that was added since the last migration. Returns the cursor, a block. */
async function beginRollup(db: Queryable, chain: string): Promise<number> {
  const text = 'insert into settlement_rollup (chain, next_block) values ($1, 0) on conflict do nothing'
  await db.query({ name: 'begin-rollup', text, values: [chain] })
  const mark = await lockMark(db, chain)
  if (mark === undefined) throw new Error(`settlement_rollup keeps no row of ${chain}`)
  return mark
}

async function lockMark(db: Queryable, chain: string): Promise<number | undefined> {
  const { rows } = await db.query<{ nextBlock: number }>({
    name: 'lock-rollup',
    text: 'select next_block as "nextBlock" from settlement_rollup where chain = $1 for update',
    values: [chain],
  })
  return rows[0]?.nextBlock
}

/** Prevents the roll-ups of all chains until the transaction ends, so that no new hour of an address is missed. */
export async function holdRollup(db: Queryable): Promise<void> {
  await db.query({ name: 'hold-rollup', text: 'select chain from settlement_rollup order by chain for update' })
}

/**
 * Blocks of a backfill that its chain is rolled up beyond and that are not rolled up themselves, as far as all their
 * rows are there: below the first shard that is not done, and below the first partition still being loaded into a staging table.
 */
export async function unrolledBackfill(
  db: Queryable,
  chain: string,
): Promise<(BlockRange & { readonly id: number }) | undefined> {
  const { rows } = await db.query<BlockRange & { id: number }>({
    name: 'unrolled-backfill',
    text: `
select id, "fromBlock", "toBlock"
  from (
    select b.id, coalesce(p.next_block, b.from_block) as "fromBlock",
           least(b.to_block, r.next_block - 1, case when b.completed_at is null then least(
             (select min(next_block) - 1 from backfill_shard where backfill_id = b.id and next_block <= last_block),
             (select min(first_block) - 1 from backfill_partition where backfill_id = b.id)) end) as "toBlock"
      from backfill b
      join settlement_rollup r using (chain)
      left join settlement_rollup_backfill p on p.backfill_id = b.id
     where b.chain = $1
  ) loaded
 where "fromBlock" <= "toBlock"
 order by "fromBlock"
 limit 1`,
    values: [chain],
  })
  return rows[0]
}

/**
 * Last block such that the range up to it has at most about `limit` settlements and `limit` other payments; at least
 * the range's first block.
 */
export async function boundRange(
  db: Queryable,
  chain: string,
  { fromBlock, toBlock }: BlockRange,
  limit: number,
): Promise<number> {
  const beyond = (table: string) => `
(select block_number from ${table}
  where chain = $1 and block_number between $2 and $3
  order by block_number
 offset $4 limit 1)`
  const { rows } = await db.query<{ block: number | null }>({
    name: 'bound-range',
    text: `select least(${beyond('settlement')}, ${beyond('payment')}) as block`,
    values: [chain, fromBlock, toBlock, limit],
  })
  const block = rows[0]?.block ?? null
  return block === null ? toBlock : Math.max(fromBlock, block - 1)
}

/**
 * Adds the settlements of a range to the sums. Blocks that a backfill has reserved are left out,
 * unless it is the one named by `backfillId`: whoever sees its reservation may also see its rows, and nobody sees the
 * rows without it. Call under `lockRollup`, and move what says so in the same transaction. Returns whether there was
 * a settlement.
 */
export async function addToRollup(
  db: Queryable,
  chain: string,
  { fromBlock, toBlock }: BlockRange,
  backfillId?: number,
): Promise<boolean> {
  const { rows } = await db.query<{ added: number }>({
    name: 'add-to-rollup',
    text: addSums(
      storedFacts(`s.block_number between $2 and $3
     and not exists (select from backfill b
                      where b.chain = $1 and s.block_number between b.from_block and b.to_block
                        and b.id is distinct from $4::int)`),
    ),
    values: [chain, fromBlock, toBlock, backfillId ?? null],
  })
  return rows[0]?.added !== 0
}

/**
 * Adds settlements to the sums that came into blocks which may be rolled up already; those of other blocks are left out.
 * Call under `lockRollup`, in the transaction that inserts them, after `subtractFromRollup`.
 */
export async function addMovedToRollup(
  db: Queryable,
  chain: string,
  settlements: readonly MovedSettlement[],
): Promise<void> {
  if (settlements.length === 0) return
  await db.query({
    name: 'add-moved-to-rollup',
    text: addSums(movedFacts),
    values: [chain, ...movedArrays(settlements)],
  })
}

const subtractions = subtractSums(movedFacts)

/**
 * Takes settlements off the sums that were deleted; those of blocks that are not rolled up are in none. Call under
 * `lockRollup`, in the transaction that deletes them, before the marks of the roll-up move. What it reads besides grows
 * with the number of settlements given, not with what their recipients received.
 */
export async function subtractFromRollup(
  db: Queryable,
  chain: string,
  settlements: readonly MovedSettlement[],
): Promise<void> {
  if (settlements.length === 0) return
  for (const { table, text } of subtractions) {
    await db.query({ name: `subtract-from-${table}`, text, values: [chain, ...movedArrays(settlements)] })
  }
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
 * Moves the roll-up's cursors of a chain and of its backfills back to `block` at most, after what is above it was taken off
 * the sums.
 */
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

/** Block time of the newest archived row of each chain that has such rows. */
export async function archivedUntil(db: Queryable): Promise<Map<string, Date>> {
  const { rows } = await db.query<{ chain: string; until: Date }>({
    name: 'archived-until',
    text: 'select chain, until from settlement_archived where until is not null',
  })
  return new Map(rows.map(({ chain, until }) => [chain, until]))
}

/**
 * Age in seconds of each chain's oldest settlement or other payment that is not rolled up yet; 0 when all are. Blocks that a backfill
 * has loaded below the roll-up's cursor do not count: their age says nothing of a delay.
 */
export async function rollupLags(db: Queryable, now: Date): Promise<{ chain: string; seconds: number }[]> {
  const oldest = (table: string) => `
(select block_timestamp from ${table} where chain = r.chain and block_number >= r.next_block order by block_number limit 1)`
  const { rows } = await db.query<{ chain: string; seconds: number }>({
    name: 'rollup-lags',
    text: `
select r.chain, coalesce(greatest(0, extract(epoch from $1::timestamptz - least(${oldest('settlement')}, ${oldest('payment')}))), 0)::float8
         as seconds
  from settlement_rollup r
 order by r.chain`,
    values: [now],
  })
  return rows
}
