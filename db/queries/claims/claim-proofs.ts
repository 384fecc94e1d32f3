import { claimLimits } from '../../../config/limits.claims.ts'
import { second } from '../../../ops/time.ts'
import { loggedEvents } from '../../../trust/proof/log.ts'
import type { ClaimProof } from '../../../trust/proof/proof.ts'
import { type ProofTerms, publishedProof } from '../../../trust/proof/published.ts'
import type { Queryable } from '../../pool.ts'
import { readClaimLog } from '../transparency/claim-log.ts'
import { proofHistory, provableClaims } from './provable-claims.ts'

/**
 * The proofs of FIDs that are public at `now`, at most one per FID: of the newest standing claim, else of the newest
 * claim. A proof whose signed time other services might still accept is withheld, so that nobody can reuse it there.
 */
export async function claimProofs(
  db: Queryable,
  { fids, now, terms }: { readonly fids: readonly number[]; readonly now: Date; readonly terms: ProofTerms },
): Promise<ReadonlyMap<number, ClaimProof>> {
  const before = new Date(now.getTime() - claimLimits.proofWaitSeconds * second)
  const proofs = new Map<number, ClaimProof>()
  const logOf = await readClaimLog(db)
  for (const claim of await provableClaims(db, fids, before)) {
    const events = await proofHistory(db, claim)
    proofs.set(claim.fid, publishedProof(claim, { events, log: await logOf(loggedEvents(claim, events)) }, terms))
  }
  return proofs
}
