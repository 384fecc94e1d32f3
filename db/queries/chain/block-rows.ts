import type { BlockRange } from '../../block-range.ts'
import type { Queryable } from '../../pool.ts'

/**
 * Tables of what blocks logged, a row with its chain and block, whose rows go with their blocks and leave nothing behind:
 * not those of settlements, which sums and partitions hold, and of registrations, which are written again as they were.
 */
export const blockTables = [
  'payment',
  'builder_code',
  'exact_amount',
  'unpaid_authorization',
  'registration_transfer',
  'registration_wallet',
  'registration_approval',
  'registration_operator',
  'registry_event',
  'feedback',
  'feedback_response',
  'fid_custody',
] as const

/** Deletes the rows of these tables in a range of a chain's blocks. */
export async function deleteWithin(
  db: Queryable,
  chain: string,
  { fromBlock, toBlock }: BlockRange,
  tables: readonly ((typeof blockTables)[number] | 'settlement')[] = blockTables,
): Promise<void> {
  for (const table of tables) {
    const text = `delete from ${table} where chain = $1 and block_number between $2 and $3`
    await db.query(text, [chain, fromBlock, toBlock])
  }
}
