import pg from 'pg'
import type { BlockRange } from '../../block-range.ts'
import type { Queryable } from '../../pool.ts'
import { type MovedSettlement, movedColumns, notePairs } from '../rollup/sums.ts'

// Steps of resetting a chain to a block. Call all but the reads in one transaction, while neither a
// processor nor a backfill of the chain runs.

/** Ids of registrations whose holder, wallet, URI or metadata changed above a block. */
export async function registrationsChangedAbove(db: Queryable, chain: string, block: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    'select id from registration where chain = $1 and updated_block > $2 order by agent_id',
    [chain, block],
  )
  return rows.map(({ id }) => id)
}

/** Deletes the registrations that changed above a block, with their metadata: their state below it is written again. */
export async function deleteRegistrationsChangedAbove(db: Queryable, chain: string, block: number): Promise<void> {
  await db.query(
    `with changed as (
       delete from registration where chain = $1 and updated_block > $2 returning agent_id
     )
     delete from registration_metadata where chain = $1 and agent_id in (select agent_id from changed)`,
    [chain, block],
  )
}

/** Inserts registrations: `rows` is a JSON array of objects with the columns' names. */
export async function insertRegistrations(db: Queryable, rows: string): Promise<void> {
  await db.query('insert into registration select * from json_populate_recordset(null::registration, $1::json)', [rows])
}

/** Inserts metadata: `rows` is a JSON array of objects with the columns' names. */
export async function insertMetadata(db: Queryable, rows: string): Promise<void> {
  await db.query(
    'insert into registration_metadata select * from json_populate_recordset(null::registration_metadata, $1::json)',
    [rows],
  )
}

/** Feedback that was revoked above a block is in force again. */
export async function restoreFeedbackRevokedAbove(db: Queryable, chain: string, block: number): Promise<void> {
  await db.query(
    'update feedback set revoked_block = null, revoked_at = null where chain = $1 and revoked_block > $2',
    [chain, block],
  )
}

/**
 * Deletes the newest settlements of a range, about `limit` and no block in part. Returns them; an empty list: the range has
 * none.
 */
export async function deleteNewestSettlements(
  db: Queryable,
  chain: string,
  { fromBlock, toBlock }: BlockRange,
  limit: number,
): Promise<MovedSettlement[]> {
  const { rows } = await db.query<MovedSettlement>({
    name: 'delete-newest-settlements',
    text: `
delete from settlement
 where chain = $1 and block_number <= $3
   and block_number >= coalesce((select block_number from settlement
                                  where chain = $1 and block_number between $2 and $3
                                  order by block_number desc
                                 offset $4 limit 1), $2)
returning ${movedColumns}`,
    values: [chain, fromBlock, toBlock, limit - 1],
  })
  return rows
}

export async function deleteFinalBlocksAbove(db: Queryable, chain: string, block: number): Promise<void> {
  await db.query('delete from final_block where chain = $1 and height > $2', [chain, block])
}

/**
 * Ends a backfill at a block, which was the last of the rows that are left; `tally` is that of the shard the block is in,
 * up to there. Sums that have its rows keep them.
 */
export async function shortenBackfill(
  db: Queryable,
  id: number,
  { height, hash }: { height: number; hash: string },
  tally: {
    readonly settlements: number
    readonly amount: bigint
    readonly checksum: bigint
    readonly payments: number
    readonly paymentChecksum: bigint
  },
): Promise<void> {
  await db.query('delete from backfill_shard where backfill_id = $1 and first_block > $2', [id, height])
  await db.query(
    `update backfill_shard
        set last_block = $2, next_block = $2 + 1, last_hash = decode(substr($3, 3), 'hex'), settlements = $4,
            amount = $5::numeric, checksum = $6::numeric, payments = $7,
            payment_checksum = $8::numeric
      where backfill_id = $1 and last_block > $2`,
    [
      id,
      height,
      hash,
      tally.settlements,
      String(tally.amount),
      String(tally.checksum),
      tally.payments,
      String(tally.paymentChecksum),
    ],
  )
  await db.query('update backfill set to_block = $2 where id = $1', [id, height])
}

/** Deletes the reservations of backfills that reach above a block. */
export async function deleteBackfillsAbove(db: Queryable, chain: string, block: number): Promise<void> {
  await db.query(
    `with gone as (delete from backfill where chain = $1 and to_block > $2 returning id)
     delete from settlement_rollup_backfill where backfill_id in (select id from gone)`,
    [chain, block],
  )
}

/** Moves a processor's cursor back to a final block. Hot blocks and their undo log are forgotten: their rows are gone. */
export async function moveCursorBack(
  db: Queryable,
  schema: string,
  { height, hash }: { height: number; hash: string },
): Promise<void> {
  await db.query(
    `with hot as (delete from ${pg.escapeIdentifier(schema)}.hot_block)
     update ${pg.escapeIdentifier(schema)}.status set height = $1, hash = $2, nonce = nonce + 1 where id = 0`,
    [height, hash],
  )
}

/**
 * Truncates the chain's settlements. Readers wait for the end of the transaction; a transaction that began before it
 * and reads the settlements only afterwards finds none.
 */
export async function truncateSettlements(db: Queryable, chain: string): Promise<void> {
  await db.query(`truncate ${pg.escapeIdentifier(`settlement_${chain}`)}`)
}

/** Deletes the chain's sums of settlements. */
export async function deleteSums(db: Queryable, chain: string): Promise<void> {
  await db.query(
    `with hours as (delete from settlement_hourly where chain = $1),
          hours_of_all as (delete from settlement_hour_total where chain = $1),
          totals as (delete from settlement_total where chain = $1),
          senders as (delete from facilitator_total where chain = $1),
          pairs as (
            delete from settlement_payer where chain = $1
            returning recipient, payer, chain, overload, last_at as before, true as back
          )${notePairs('pairs')}`,
    [chain],
  )
}

export async function deleteChainState(db: Queryable, chain: string): Promise<void> {
  await db.query('delete from chain_state where chain = $1', [chain])
}

/** Sets a savepoint. */
export async function markPlace(db: Queryable): Promise<void> {
  await db.query('savepoint place')
}

/** Rolls back to the savepoint, also after a failed statement. */
export async function returnToPlace(db: Queryable): Promise<void> {
  await db.query('rollback to savepoint place')
}

export async function dropTable(db: Queryable, table: string): Promise<void> {
  await db.query(`drop table if exists ${pg.escapeIdentifier(table)}`)
}

export async function dropSchema(db: Queryable, schema: string): Promise<void> {
  await db.query(`drop schema if exists ${pg.escapeIdentifier(schema)} cascade`)
}
