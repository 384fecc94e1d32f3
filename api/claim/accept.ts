import type pg from 'pg'
import { chainNames } from '../../chains.config.ts'
import { inTransaction } from '../../db/pool.ts'
import { deriveAgents } from '../../db/queries/join/agents.ts'
import { limitLockWait } from '../../db/queries/join/claims.ts'
import { lockJoin, noteAddressesOf } from '../../db/queries/join/events.ts'
import { askForSubjects } from '../../db/queries/sources/source-state.ts'

/** The join may be in the middle of a batch; then it derives this agent too, some seconds later. */
const lockWaitMs = 2_000
/** The source of accounts' profiles and verified sets. */
const socialSource = 'socialindex'

/**
 * Brings the agent of a fid that was just claimed up to date, as the join would: readers see the claim in the next
 * answer. The claim is stored and queued for the join already, so a failure here delays it and loses nothing.
 */
export function deriveClaimed(pool: pg.Pool, fid: number, now: Date): Promise<void> {
  return inTransaction(pool, async (db) => {
    await limitLockWait(db, lockWaitMs)
    await lockJoin(db)
    const [change] = await deriveAgents(db, { fids: [fid], chainOrder: chainNames, now })
    if (!change?.claimChanged) return
    // The join would find nothing changed any more, so what it does about a change is done here.
    await askForSubjects(db, socialSource, [`fid:${fid}`], { priority: 2, dueAt: now })
    await noteAddressesOf(db, [fid])
  })
}
