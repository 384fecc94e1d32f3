import { lockClasses } from '../../lock-keys.ts'
import type { Queryable } from '../../pool.ts'

/** Settlements of a range of blocks that are loaded by a backfill; `toBlock` is inclusive. */
export interface BackfillRange {
  readonly id: number
  readonly fromBlock: number
  readonly toBlock: number
  readonly completedAt: Date | null
}

/** The part of a backfill that one process loads, with its progress. */
export interface Shard {
  readonly firstBlock: number
  readonly lastBlock: number
  /** Cursor: rows of all blocks below it are committed. */
  readonly nextBlock: number
  /** Parent hash of the shard's first block, lowercase hex; null before the first batch. */
  readonly parentHash: string | null
  readonly firstHash: string | null
  /** Hash of the block below `nextBlock`. */
  readonly lastHash: string | null
  readonly settlements: number
  readonly amount: bigint
  readonly checksum: bigint
  readonly payments: number
  readonly paymentChecksum: bigint
  /** Whether the chain's node confirmed a sample of the blocks in which the source had nothing. */
  readonly confirmed: boolean
}

/** Prevents reservations on the chain until the transaction ends; waits for one that is being made. */
export async function holdReservations(db: Queryable, chainId: number): Promise<void> {
  await db.query('select pg_advisory_xact_lock_shared($1, $2)', [lockClasses.reservation, chainId])
}

/**
 * Takes the exclusive reservation lock until the transaction ends; the chain's processor writes no settlements then.
 */
export async function lockReservations(db: Queryable, chainId: number): Promise<void> {
  await db.query('select pg_advisory_xact_lock($1, $2)', [lockClasses.reservation, chainId])
}

/** Whether this session is the only one that works on the backfill now; ends with the session. */
export async function tryLockBackfill(session: Queryable, id: number): Promise<boolean> {
  const { rows } = await session.query<{ locked: boolean }>('select pg_try_advisory_lock($1, $2) as locked', [
    lockClasses.backfillCommand,
    id,
  ])
  return rows[0]?.locked === true
}

/** The backfills of a chain that meet a range, ascending. */
export async function backfillsWithin(
  db: Queryable,
  chain: string,
  fromBlock: number,
  toBlock: number,
): Promise<BackfillRange[]> {
  const { rows } = await db.query<BackfillRange>(
    `select id, from_block as "fromBlock", to_block as "toBlock", completed_at as "completedAt"
       from backfill
      where chain = $1 and from_block <= $3 and to_block >= $2
      order by from_block`,
    [chain, fromBlock, toBlock],
  )
  return rows
}

/** Inserts a reservation and returns the backfill's id. Throws SQLSTATE 23P01 when it overlaps another one. */
export async function insertBackfill(
  db: Queryable,
  chain: string,
  fromBlock: number,
  toBlock: number,
): Promise<number> {
  const { rows } = await db.query<{ id: number }>(
    'insert into backfill (chain, from_block, to_block) values ($1, $2, $3) returning id',
    [chain, fromBlock, toBlock],
  )
  return rows[0]?.id as number
}

/** Cuts a backfill of which nothing is loaded into these shards. */
export async function replaceShards(
  db: Queryable,
  id: number,
  shards: readonly { readonly firstBlock: number; readonly lastBlock: number }[],
): Promise<void> {
  await db.query('delete from backfill_shard where backfill_id = $1', [id])
  await db.query(
    `insert into backfill_shard (backfill_id, first_block, last_block, next_block)
     select $1, first_block, last_block, first_block from unnest($2::int[], $3::int[]) as shard (first_block, last_block)`,
    [id, shards.map(({ firstBlock }) => firstBlock), shards.map(({ lastBlock }) => lastBlock)],
  )
}

/**
 * Whether nothing of a backfill is loaded and nobody works on it; nobody can then begin before the transaction ends.
 */
export async function holdUnbegun(db: Queryable, id: number): Promise<boolean> {
  const { rows } = await db.query<{ held: boolean }>('select pg_try_advisory_xact_lock($1, $2) as held', [
    lockClasses.backfillCommand,
    id,
  ])
  if (rows[0]?.held !== true) return false
  const { rows: begun } = await db.query(
    `select from backfill b
      where id = $1 and (completed_at is not null
            or exists (select from backfill_shard where backfill_id = b.id and next_block > first_block))
      limit 1`,
    [id],
  )
  return begun.length === 0
}

/** Whether a backfill is still there with these blocks. */
export async function hasBackfill(db: Queryable, { id, fromBlock, toBlock }: Omit<BackfillRange, 'completedAt'>) {
  const { rows } = await db.query('select from backfill where id = $1 and (from_block, to_block) = ($2, $3)', [
    id,
    fromBlock,
    toBlock,
  ])
  return rows.length === 1
}

/** Notes what kind of source a backfill is read from: portal, archive or rpc. */
export async function noteSource(db: Queryable, id: number, source: string): Promise<void> {
  await db.query('update backfill set sources = sources || $2::text where id = $1 and not sources @> array[$2::text]', [
    id,
    source,
  ])
}

/** The shards of a backfill, ascending. */
export async function readShards(db: Queryable, id: number): Promise<Shard[]> {
  type Sums = Record<'amount' | 'checksum' | 'paymentChecksum', string>
  const { rows } = await db.query<Omit<Shard, keyof Sums> & Sums>(
    `select first_block as "firstBlock", last_block as "lastBlock", next_block as "nextBlock",
            '0x' || encode(parent_hash, 'hex') as "parentHash", '0x' || encode(first_hash, 'hex') as "firstHash",
            '0x' || encode(last_hash, 'hex') as "lastHash", settlements::float8 as settlements,
            amount::text as amount, checksum::text as checksum, payments::float8 as payments,
            payment_checksum::text as "paymentChecksum", confirmed
       from backfill_shard
      where backfill_id = $1
      order by first_block`,
    [id],
  )
  return rows.map(({ amount, checksum, paymentChecksum, ...row }) => ({
    ...row,
    amount: BigInt(amount),
    checksum: BigInt(checksum),
    paymentChecksum: BigInt(paymentChecksum),
  }))
}

/** What the backfills of a chain have loaded so far, and how many blocks of their ranges are left. */
export async function backfillLoads(
  db: Queryable,
  chain: string,
): Promise<{ blocksToGo: number; settlements: number }> {
  const { rows } = await db.query<{ blocksToGo: number; settlements: number }>({
    name: 'backfill-loads',
    text: `
select coalesce(sum(s.last_block + 1 - s.next_block), 0)::float8 as "blocksToGo",
       coalesce(sum(s.settlements), 0)::float8 as settlements
  from backfill b
  join backfill_shard s on s.backfill_id = b.id
 where b.chain = $1`,
    values: [chain],
  })
  return rows[0] as { blocksToGo: number; settlements: number }
}

export interface ShardStep {
  readonly backfillId: number
  readonly firstBlock: number
  /** Cursor that the shard must have for this step to apply. */
  readonly from: number
  readonly nextBlock: number
  /** Lowercase hex. */
  readonly parentHash: string
  readonly firstHash: string
  readonly lastHash: string
  readonly settlements: number
  readonly amount: bigint
  readonly checksum: bigint
  readonly payments: number
  readonly paymentChecksum: bigint
  readonly confirmed: boolean
}

/** Advances a shard's cursor, in the transaction that adds the rows. False: another process has moved it. */
export async function moveShard(db: Queryable, step: ShardStep): Promise<boolean> {
  const { rowCount } = await db.query(
    `update backfill_shard
        set next_block = $4,
            parent_hash = coalesce(parent_hash, decode(substr($5, 3), 'hex')),
            first_hash = coalesce(first_hash, decode(substr($6, 3), 'hex')),
            last_hash = decode(substr($7, 3), 'hex'),
            settlements = settlements + $8,
            amount = amount + $9::numeric,
            checksum = (checksum + $10::numeric) % 18446744073709551616,
            payments = payments + $11,
            payment_checksum = (payment_checksum + $12::numeric) % 18446744073709551616,
            confirmed = $13 and (confirmed or next_block = first_block)
      where backfill_id = $1 and first_block = $2 and next_block = $3`,
    [
      step.backfillId,
      step.firstBlock,
      step.from,
      step.nextBlock,
      step.parentHash,
      step.firstHash,
      step.lastHash,
      step.settlements,
      String(step.amount),
      String(step.checksum),
      step.payments,
      String(step.paymentChecksum),
      step.confirmed,
    ],
  )
  return rowCount === 1
}

/** Marks a backfill as completed. False: blocks of one of its shards are not loaded, and nothing is changed. */
export async function completeBackfill(db: Queryable, id: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `update backfill
        set completed_at = coalesce(completed_at, clock_timestamp())
      where id = $1
        and not exists (select from backfill_shard where backfill_id = $1 and next_block <= last_block)`,
    [id],
  )
  return rowCount === 1
}

/** Counts authorizations that moved no money, in the transaction that adds the rows of their blocks. */
export async function insertUnpaid(
  db: Queryable,
  chain: string,
  counts: readonly { readonly blockNumber: number; readonly token: string; readonly count: number }[],
): Promise<void> {
  await db.query(
    `insert into unpaid_authorization (id, chain, block_number, token, count)
     select $1 || '-' || block_number || '-' || token, $1, block_number, decode(substr(token, 3), 'hex'), count
       from unnest($2::int[], $3::text[], $4::int[]) as unpaid (block_number, token, count)`,
    [
      chain,
      counts.map(({ blockNumber }) => blockNumber),
      counts.map(({ token }) => token),
      counts.map(({ count }) => count),
    ],
  )
}

/** Deletes the counts of some tokens or contracts in some blocks. */
export async function deleteUnpaidOf(
  db: Queryable,
  chain: string,
  counts: readonly { readonly blockNumber: number; readonly token: string }[],
): Promise<void> {
  await db.query('delete from unpaid_authorization where id = any ($1::text[])', [
    counts.map(({ blockNumber, token }) => `${chain}-${blockNumber}-${token}`),
  ])
}

/** Deletes a backfill: its reservation, its shards, and the state of its partitions and roll-up. */
export async function deleteBackfill(db: Queryable, id: number): Promise<void> {
  await db.query(
    `with gone as (delete from settlement_rollup_backfill where backfill_id = $1)
     delete from backfill where id = $1`,
    [id],
  )
}
