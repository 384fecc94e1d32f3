import { sources } from '../../config/sources.ts'
import type { Queryable } from '../../db/pool.ts'
import { askForSubjects } from '../../db/queries/sources/source-state.ts'
import { storeWitness } from '../../db/queries/sources/witnesses.ts'
import { keptByWitnesses, type Settled, type VerifiedSet } from '../../db/queries/verifications/verified-addresses.ts'
import { disputedAfterMs, storeTestimony } from '../proofs/witnesses.ts'

/**
 * Records the verifications that the followed hub, at `url`, leaves out of a complete answer although another hub still
 * has them. No removal was seen, so they stay, and are disputed when both hubs repeat their answers. True: there are
 * some, and the FID should be read again soon.
 */
export async function noteAbsences(db: Queryable, set: Settled<VerifiedSet>, url: string): Promise<boolean> {
  const { fid, now } = set
  const kept = await keptByWitnesses(db, set)
  if (!kept) return false
  const { hashes, toldAt } = kept
  await storeTestimony(db, fid, now, () =>
    storeWitness(db, { fid, url, hashes, known: new Set(), disputedAfterMs, now }),
  )
  // Not at every read: either hub may lack a message that the other one has.
  if (toldAt && now.getTime() - toldAt.getTime() >= disputedAfterMs)
    await askForSubjects(db, sources.witnesses.name, [`fid:${fid}`], { priority: 1, dueAt: now })
  return hashes.length > 0
}
