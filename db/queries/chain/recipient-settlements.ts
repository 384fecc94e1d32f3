import type { BlockRange } from '../../block-range.ts'
import type { Queryable } from '../../pool.ts'
import { addSums } from '../rollup/sums.ts'
import { type StoredSettlement, settlementArrays, settlementColumns, unnestSettlements } from './settlement-arrays.ts'

// Settlements that are loaded by recipient, in blocks that may be rolled up already.

/** Inserts settlements of final blocks that are not stored yet. Returns the recipient of each inserted row. */
export async function addSettlements(
  db: Queryable,
  chain: string,
  rows: readonly StoredSettlement[],
): Promise<Buffer[]> {
  const added = await db.query<{ recipient: Buffer }>({
    name: 'add-settlements',
    text: `
insert into settlement (chain, ${settlementColumns()})
select $1, * from ${unnestSettlements(2)}
    on conflict do nothing
returning recipient`,
    values: [chain, ...settlementArrays(rows)],
  })
  return added.rows.map(({ recipient }) => recipient)
}

/**
 * Adds the settlements of some recipients in a range of blocks to the hours, totals and payers: for recipients that had
 * none in it before. Blocks that a backfill has reserved are left out, as theirs were not added here. Call under
 * `lockRollup`, in the transaction that adds the rows, with blocks that are rolled up.
 */
export async function addRecipientsToRollup(
  db: Queryable,
  chain: string,
  { fromBlock, toBlock }: BlockRange,
  recipients: readonly Buffer[],
): Promise<void> {
  await db.query({
    name: 'add-recipients-to-rollup',
    text: addSums(`s.block_number between $2 and $3 and s.recipient = any ($4::bytea[])
     and not exists (select from backfill b
                      where b.chain = $1 and s.block_number between b.from_block and b.to_block)`),
    values: [chain, fromBlock, toBlock, recipients],
  })
}
