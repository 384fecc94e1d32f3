import { lockClasses } from '../../../lock-keys.ts'
import type { Queryable } from '../../../pool.ts'
import { hashed, tallied, told } from './payments.ts'

// What payment contracts paid that were added to a chain when it was indexed already.

/** A contract whose payments from `nextBlock` to `toBlock` are still to be loaded. */
export interface LateContract {
  /** Lowercase hex. */
  readonly address: string
  readonly nextBlock: number
  readonly toBlock: number
}

/** The late contracts of a chain; those that are furthest behind first. */
export async function lateContracts(db: Queryable, chain: string): Promise<LateContract[]> {
  const { rows } = await db.query<LateContract>({
    name: 'late-contracts',
    text: `
select address, next_block as "nextBlock", to_block as "toBlock"
  from chain_contract
 where chain = $1 and next_block <= to_block
 order by next_block, to_block, address`,
    values: [chain],
  })
  return rows
}

/** Marks what contracts paid in a range as still to be loaded, together with what is already. */
export async function markLate(db: Queryable, chain: string, contracts: readonly LateContract[]): Promise<void> {
  if (contracts.length === 0) return
  await db.query(
    `update chain_contract c
        set next_block = least(late.next_block, c.next_block), to_block = greatest(late.to_block, c.to_block)
       from unnest($2::text[], $3::int[], $4::int[]) as late (address, next_block, to_block)
      where c.chain = $1 and c.address = late.address`,
    [
      chain,
      contracts.map(({ address }) => address),
      contracts.map(({ nextBlock }) => nextBlock),
      contracts.map(({ toBlock }) => toBlock),
    ],
  )
}

/**
 * Moves the cursors of late contracts from one block to another, and forgets them behind the last one. Returns whether
 * all of them were there.
 */
export async function moveLate(
  db: Queryable,
  chain: string,
  { addresses, fromBlock, nextBlock }: { addresses: readonly string[]; fromBlock: number; nextBlock: number },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'move-late',
    text: `
update chain_contract
   set next_block = case when $4 <= to_block then $4::int end, to_block = case when $4 <= to_block then to_block end
 where chain = $1 and address = any ($2::text[]) and next_block = $3`,
    values: [chain, addresses, fromBlock, nextBlock],
  })
  return rowCount === addresses.length
}

/** Blocks that backfills have still to load, ascending, and whether somebody loads them now. */
interface Unloaded {
  readonly fromBlock: number
  readonly toBlock: number
  readonly isBusy: boolean
}

/**
 * Blocks of a chain that its backfills have still to load. Nobody can begin to load those that are not busy before the
 * transaction ends.
 */
export async function holdUnloaded(db: Queryable, chain: string): Promise<Unloaded[]> {
  const { rows } = await db.query<Unloaded>({
    name: 'hold-unloaded',
    text: `
with open as materialized (
  select id, not pg_try_advisory_xact_lock($2, id) as busy from backfill where chain = $1 and completed_at is null
)
select s.next_block as "fromBlock", s.last_block as "toBlock", open.busy as "isBusy"
  from open
  join backfill_shard s on s.backfill_id = open.id
 where s.next_block <= s.last_block
 order by s.next_block`,
    values: [chain, lockClasses.backfillCommand],
  })
  return rows
}

interface FoundPayments {
  /** All payments of the transactions, JSON array of rows with the columns' names. */
  readonly found: string
  /** Those of them that are stored. */
  readonly kept: string
  readonly blocks: readonly number[]
  readonly txHashes: readonly Buffer[]
}

/**
 * Makes the payments of some transactions in final blocks those that are given, and adds what that changes to the
 * certificates of their blocks. Returns how many came. Call under `lockPayments`.
 */
export async function replacePaymentsOf(
  db: Queryable,
  chain: string,
  { found, kept, blocks, txHashes }: FoundPayments,
): Promise<number> {
  const gone = await db.query<Moved>({
    name: 'delete-others-of',
    text: `
with found as materialized (select * from json_populate_recordset(null::payment, $4::json))
delete from payment
 where chain = $1 and block_number = any ($2::int[]) and tx_hash = any ($3::bytea[])
   and not exists (select from found f where f.id = payment.id and ${told('f')} = ${told('payment')})
returning block_number as block, ${tallied} as line`,
    values: [chain, blocks, txHashes, found],
  })
  const added = await db.query<Moved>({
    name: 'insert-late-payments',
    text: `
insert into payment select * from json_populate_recordset(null::payment, $1::json) on conflict do nothing
returning block_number as block, ${tallied} as line`,
    values: [kept],
  })
  await certify(db, chain, gone.rows, -1)
  await certify(db, chain, added.rows, 1)
  return added.rows.length
}

interface Moved {
  readonly block: number
  /** What certificates hash of the row. */
  readonly line: string
}

/** Adds payments to the certificates of backfills and audits of their blocks, or takes them off. */
async function certify(db: Queryable, chain: string, moved: readonly Moved[], sign: 1 | -1): Promise<void> {
  if (moved.length === 0) return
  const values = [chain, moved.map(({ block }) => block), moved.map(({ line }) => line), sign]
  const moves = `moved as materialized (
  select block, $4::int as n, $4::numeric * ${hashed('line')} as hash from unnest($2::int[], $3::text[]) as m (block, line)
)`
  const sums = `payments = t.payments + more.n,
       payment_checksum = mod(mod(t.payment_checksum + more.hash, 18446744073709551616) + 18446744073709551616, 18446744073709551616)`
  await db.query({
    name: 'certify-late-shards',
    text: `
with ${moves}
update backfill_shard t set ${sums}
  from (select s.backfill_id, s.first_block, sum(n) as n, sum(hash) as hash
          from moved
          join backfill b on b.chain = $1 and moved.block between b.from_block and b.to_block
          join backfill_shard s on s.backfill_id = b.id and moved.block between s.first_block and s.last_block
         group by s.backfill_id, s.first_block) more
 where (t.backfill_id, t.first_block) = (more.backfill_id, more.first_block)`,
    values,
  })
  await db.query({
    name: 'certify-late-audits',
    text: `
with ${moves}
update audit_certificate t set ${sums}
  from (select a.from_block, sum(n) as n, sum(hash) as hash
          from moved
          join audit_certificate a on a.chain = $1 and moved.block between a.from_block and a.to_block
         group by a.from_block) more
 where (t.chain, t.from_block) = ($1, more.from_block)`,
    values,
  })
}
