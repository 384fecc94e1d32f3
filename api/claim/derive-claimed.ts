import type pg from 'pg'
import { sources } from '../../config/sources.ts'
import { partOfAgent } from '../../db/due/kinds.ts'
import { inTransaction } from '../../db/pool.ts'
import { deriveWithFollowUp, fidsOf } from '../../db/queries/agents/follow-up.ts'
import { lockJoin } from '../../db/queries/agents/lock.ts'
import { deriveDirectorySums } from '../../db/queries/rollup/directory-sums.ts'
import { deriveCountsOf } from '../../db/queries/rollup/recipient-counts.ts'
import { limitLockWait } from '../../db/queries/server/transaction-settings.ts'
import { askForSubjects } from '../../db/queries/sources/source-state.ts'

/** Lock timeout. A join in the middle of a batch holds the lock, and derives this agent itself seconds later. */
const lockWaitMs = 2_000

interface Accepted {
  readonly pool: pg.Pool
  readonly fid: number
  readonly settlementOverloads: 'spec' | 'all'
  readonly now: () => Date
}

/**
 * Re-derives the agent of a fid that was just claimed, as the join would, so that readers see the claim in the next
 * answer. The claim is stored and queued for the join already: a failure here delays it and loses nothing. The join
 * also queues the sources that only the enrichment job knows by name.
 */
export async function deriveClaimed({ pool, fid, settlementOverloads, now }: Accepted): Promise<void> {
  const changes = await inTransaction(pool, async (db) => {
    await limitLockWait(db, lockWaitMs)
    await lockJoin(db)
    const derived = await deriveWithFollowUp(db, { fids: [fid], perAgent: [], now: now() })
    // The only part whose count of claims moved: the job counts it again, in a minute at most.
    await deriveDirectorySums(db, [partOfAgent(fid)])
    return derived
  })
  const listed = fidsOf(changes, 'listed')
  if (listed.length === 0) return
  await inTransaction(pool, async (db) => {
    await limitLockWait(db, lockWaitMs)
    await deriveCountsOf(db, { fids: listed, settlementOverloads, now: now() })
  })
}

/** Queues an account and its claims at the enrichment job, ahead of routine work. */
export async function askAgain({ pool, fid, now }: Omit<Accepted, 'settlementOverloads'>): Promise<void> {
  const soon = { priority: 2, dueAt: now() } as const
  for (const { name } of [sources.fids, sources.claims]) await askForSubjects(pool, name, [`fid:${fid}`], soon)
}
