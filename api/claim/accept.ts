import type pg from 'pg'
import { inTransaction } from '../../db/pool.ts'
import { limitLockWait } from '../../db/queries/join/claims.ts'
import { lockJoin } from '../../db/queries/join/events.ts'
import { deriveWithFollowUp, fidsOf } from '../../db/queries/join/follow-up.ts'
import { refreshCountsOf } from '../../db/queries/rollup/refresh-counts.ts'
import { askForSubjects } from '../../db/queries/sources/source-state.ts'
import { sources } from '../../sources.ts'

/** The join may be in the middle of a batch; then it derives this agent too, some seconds later. */
const lockWaitMs = 2_000

interface Accepted {
  readonly pool: pg.Pool
  readonly fid: number
  readonly settlementOverloads: 'spec' | 'all'
  readonly now: () => Date
}

/**
 * Brings the agent of a fid that was just claimed up to date, as the join would: readers see the claim in the next
 * answer. The claim is stored and queued for the join already, so a failure here delays it and loses nothing; the join
 * also asks the sources whose names only the enrichment job knows.
 */
export async function deriveClaimed({ pool, fid, settlementOverloads, now }: Accepted): Promise<void> {
  const changes = await inTransaction(pool, async (db) => {
    await limitLockWait(db, lockWaitMs)
    await lockJoin(db)
    return deriveWithFollowUp(db, { fids: [fid], perAgent: [], now: now() })
  })
  await refreshCountsOf(fidsOf(changes, 'listed'), { pool, settlementOverloads, now, lockWaitMs })
}

/** Has the enrichment job read an account, and look at its claims, before anything else. */
export async function askAgain({ pool, fid, now }: Omit<Accepted, 'settlementOverloads'>): Promise<void> {
  const soon = { priority: 2, dueAt: now() } as const
  for (const { name } of [sources.fids, sources.claims]) await askForSubjects(pool, name, [`fid:${fid}`], soon)
}
