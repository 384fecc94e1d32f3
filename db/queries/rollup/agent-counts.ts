import type { Queryable } from '../../pool.ts'
import { lockJoin } from '../join/lock.ts'
import { lookUpByKey } from '../server/transaction-settings.ts'
import { agentsToCount, countNewRecipients, storeSettlementCounts } from './recipient-counts.ts'

interface AgentCountOptions {
  readonly fids: readonly number[]
  readonly settlementOverloads: 'spec' | 'all'
  readonly now: Date
}

/**
 * Makes the counters of some agents those of their addresses, in a transaction of the caller's. Under the join's lock:
 * writers of several agents could deadlock otherwise.
 */
export async function deriveCountsOf(db: Queryable, { fids, ...options }: AgentCountOptions): Promise<void> {
  await lookUpByKey(db)
  await countNewRecipients(db, fids, options)
  const moved = await agentsToCount(db, fids)
  if (moved.length === 0) return
  await lockJoin(db)
  await storeSettlementCounts(db, moved)
}
