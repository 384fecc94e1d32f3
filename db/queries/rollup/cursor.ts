import type { BlockRange } from '../../block-range.ts'
import type { Queryable } from '../../pool.ts'
import { addSums, recountSums } from './sums.ts'

/** What this version sums up when it moves the roll-up's cursor; the database refuses versions that leave something out. */
const sums = 'hours, totals, payers, senders, first payments'

/**
 * Locks a chain's roll-up until the transaction ends and returns its cursor, the first block that is not rolled up.
 * Every writer of the chain's hours, totals, payers and senders takes this lock.
 */
export async function lockRollup(db: Queryable, chain: string): Promise<number> {
  return (await lockMark(db, chain)) ?? (await beginRollup(db, chain))
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
    text: `
select next_block as "nextBlock", set_config('directory.sums', $2, true)
  from settlement_rollup
 where chain = $1
   for update`,
    values: [chain, sums],
  })
  return rows[0]?.nextBlock
}

/** Prevents the roll-ups of all chains until the transaction ends, so that no new hour of an address is missed. */
export async function holdRollup(db: Queryable): Promise<void> {
  await db.query({ name: 'hold-rollup', text: 'select chain from settlement_rollup order by chain for update' })
}

/**
 * Blocks of a backfill that its chain is rolled up beyond and that are not rolled up themselves, as far as all their
 * rows are there: below the first shard that is not done, and below the first partition still being loaded aside.
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
 * Adds the settlements of a range to the hours, totals, payers and senders. Blocks that a backfill has reserved are left out,
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
    text: addSums(`s.block_number between $2 and $3
     and not exists (select from backfill b
                      where b.chain = $1 and s.block_number between b.from_block and b.to_block
                        and b.id is distinct from $4::int)`),
    values: [chain, fromBlock, toBlock, backfillId ?? null],
  })
  return rows[0]?.added !== 0
}

const isRolledUp = `not exists (select from settlement_unrolled u
                    where u.chain = $1 and s.block_number between u.from_block and u.to_block)`

/** Recipients to recount by one statement. */
export const recipientsPerRecount = 100

/**
 * Counts recipients of a chain again, from their settlements in blocks that are rolled up: for rows that came into such
 * blocks later. Call under `lockRollup`, in the transaction that adds the rows. It reads all that the recipients
 * received on the chain, so give it `recipientsPerRecount` at a time.
 */
export async function recountRecipients(db: Queryable, chain: string, recipients: readonly Buffer[]): Promise<void> {
  await db.query({
    name: 'recount-recipients',
    text: recountSums('select distinct unnest($2::bytea[]) as recipient', isRolledUp),
    values: [chain, recipients],
  })
}

/**
 * Recounts the recipients of settlements in blocks from `block` on. Call under `lockRollup` after `rewindRollup`,
 * while the settlements are still there. It reads all that they ever received on the chain: what a payer's newest
 * settlement below the block is, nothing else tells.
 */
export async function recountRecipientsFrom(db: Queryable, chain: string, block: number): Promise<void> {
  await db.query({
    name: 'recount-recipients-from',
    text: recountSums(
      'select distinct recipient from settlement where chain = $1 and block_number >= $2::int',
      isRolledUp,
    ),
    values: [chain, block],
  })
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
 * Moves the roll-up's cursors of a chain and of its backfills back to `block` at most. The caller corrects the sums.
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
