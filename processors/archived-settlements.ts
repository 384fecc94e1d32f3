import type { ChainSettings } from '../chains.file.ts'
import type { Queryable } from '../db/pool.ts'
import { readArchived } from '../db/queries/chain/archive.ts'
import { Refusal } from './refusal.ts'

/**
 * Throws a Refusal when a change to the blocks from `fromBlock` on would concern archived settlements: their rows are
 * not in the database, so they cannot be taken off the sums.
 */
export async function refuseArchived(db: Queryable, { name }: ChainSettings, fromBlock: number): Promise<void> {
  const archived = await readArchived(db, name)
  if (!archived || archived.sealedTo < fromBlock) return
  throw new Refusal(
    `settlements of ${name} are archived up to block ${archived.toBlock}, and sealed up to ${archived.sealedTo}: bring them ` +
      `back first, one partition at a time, with: npm run archive -- --chain ${name} --restore`,
  )
}
