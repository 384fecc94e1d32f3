import { inTransaction } from '../../db/pool.ts'
import { deriveFromSums } from '../../db/queries/join/agents.ts'
import { lockJoin } from '../../db/queries/join/events.ts'
import { deriveWithFollowUp, fidsOf } from '../../db/queries/join/follow-up.ts'
import { deriveLargeHolder, endLargeHolderEvents, takeLargeHolder } from '../../db/queries/join/large-holders.ts'
import { refreshCountsOf } from '../../db/queries/rollup/refresh-counts.ts'
import type { JoinOptions } from './join.ts'

/** Shortest time between two derivations of a large holder's holdings, in milliseconds. */
const restMs = 60_000

interface LargeHolderOptions extends JoinOptions {
  /** Milliseconds in place of `restMs`; tests set it. */
  readonly rest?: number
}

/**
 * Re-derives one large holder: its holdings without the join's lock, then its row from them, under the lock. Returns
 * zero when none is due.
 */
export async function runLargeHolders(options: LargeHolderOptions): Promise<number> {
  const { pool, now, perAgent = [], rest = restMs } = options
  const before = new Date(now().getTime() - rest)
  const taken = await inTransaction(pool, async (db) => {
    const holder = await takeLargeHolder(db, before)
    if (holder) await deriveLargeHolder(db, holder.fid, now())
    return holder
  })
  if (!taken) return 0
  const { fid, noted } = taken
  const changes = await inTransaction(pool, async (db) => {
    await lockJoin(db)
    await endLargeHolderEvents(db, fid, noted)
    return deriveWithFollowUp(db, { fids: [fid], perAgent, now: now() }, deriveFromSums)
  })
  await refreshCountsOf(fidsOf(changes, 'listed'), options)
  return 1
}
