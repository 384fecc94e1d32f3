import type { Queryable } from '../../db/pool.ts'
import {
  type ActionName,
  actionsSince,
  endStandingClaims,
  findAction,
  findManifestAction,
  insertAction,
  laterListing,
  setUnlisted,
  type UsedAction,
} from '../../db/queries/claims/claim-actions.ts'
import { claimState, lockClaims } from '../../db/queries/claims/claims.ts'
import { liveAddresses } from '../../db/queries/verifications/verified-addresses.ts'
import { canonicalJson } from '../../trust/canonical-json.ts'
import { ApiError } from '../http/errors.ts'
import { lastUtcMidnight } from '../limits/window.ts'
import { refuseBeyondDay } from './attempts.ts'
import type { ClaimAttempt, ClaimDeps } from './claim.ts'
import { examineProof, type ReadProof, readProof } from './examination.ts'
import { unlinkedHost, type VerifiedProof } from './proof-method.ts'
import type { ClaimMethod } from './request.ts'

/** Body of a 200 answer to a withdrawal, unlisting or relisting. */
type ActionAnswer = { readonly ok: true; readonly fid: number } & (
  | { readonly withdrawn: readonly { method: string; nonce: string }[]; readonly claimed: boolean }
  | { readonly unlisted: boolean }
)

/** Methods of proof that each action accepts. */
const methodsOf: Readonly<Record<ActionName, readonly ClaimMethod[]>> = {
  withdraw: ['eip191', 'jfs', 'well-known'],
  unlist: ['eip191', 'jfs'],
  relist: ['eip191', 'jfs'],
}

interface Attempt extends ReadProof {
  readonly action: ActionName
}

/** Judges withdrawals, unlistings and relistings. Refusals are ApiErrors; any other error: a source did not answer. */
export function createActions(
  deps: ClaimDeps,
): (action: ActionName, attempt: Omit<ClaimAttempt, 'dryRun'>) => Promise<object> {
  const { database, attempts } = deps
  return async (action, { client, ...sent }) => {
    const attempt: Attempt = { action, ...readProof(sent, action, methodsOf[action], deps).read() }
    const { fid } = attempt
    const used = {
      refuse: () => refuseUsed(database, attempt),
      refuseManifest: (sha256: Buffer) => refuseUsedManifest(database, attempt, sha256),
    }
    const verified = await examineProof(attempt, used, { attempts, client })
    const answer = await deps.transaction((db) => carryOut(db, attempt, verified, deps))
    const addresses = await liveAddresses(database, [fid])
    await deps.accepted(fid, addresses.get(fid) ?? [])
    return answer
  }
}

/** Carries out a proven action under the lock on a FID's claims, so that its checks and effects do not race. */
async function carryOut(db: Queryable, attempt: Attempt, verified: VerifiedProof, deps: ClaimDeps) {
  const { fid, action, method, proof, proofSha256 } = attempt
  await lockClaims(db, fid)
  await refuseUsed(db, attempt)
  if (verified.manifestSha256) await refuseUsedManifest(db, attempt, verified.manifestSha256)
  const at = new Date(deps.now())
  // By rank: an app key, which many services hold, must not use up what only the custody address may do.
  const { byCustody } = verified
  const host = unlinkedHost(attempt, verified)
  const since = new Date(lastUtcMidnight(at.getTime()))
  refuseBeyondDay(await actionsSince(db, { fid, byCustody, since, host }), at.getTime())
  const answer = await effectOf(db, attempt, { ...verified, host }, at)
  await insertAction(db, {
    fid,
    action,
    method,
    nonce: proof.nonce,
    proof: verified.proof,
    proofSha256,
    manifestSha256: verified.manifestSha256,
    signer: verified.signer,
    byCustody,
    unlinked: host !== undefined,
    signedAt: verified.signedAt === undefined ? null : new Date(verified.signedAt),
    acceptedAt: at,
    answer,
  })
  return answer
}

async function effectOf(
  db: Queryable,
  { fid, action, method, proof, proofSha256 }: Attempt,
  { signer, signedAt, byCustody, manifestSha256, host }: VerifiedProof & { host: string | undefined },
  at: Date,
): Promise<ActionAnswer> {
  // The word that was signed last decides, whichever came last; none counts as signed later than it came.
  const said = new Date(Math.min(signedAt ?? at.getTime(), at.getTime()))
  if (action !== 'withdraw') {
    const later = await laterListing(db, fid, said)
    if (!later) await setUnlisted(db, fid, action === 'unlist' ? at : null)
    return { ok: true, fid, unlisted: (later ?? action) === 'unlist' }
  }
  const evidence = canonicalJson({
    reason: byCustody ? 'withdrawn_by_custody' : 'withdrawn',
    method,
    nonce: proof.nonce,
    signer,
    // By digest: the proof is kept once, whatever number of claims it ends, and shown when nobody else takes it any more.
    proof_sha256: proofSha256.toString('hex'),
    ...(manifestSha256 && { manifest_sha256: manifestSha256.toString('hex') }),
  })
  const withdrawn = await endStandingClaims(db, { fid, at, said, evidence, host })
  const { claimedAt } = await claimState(db, fid)
  return { ok: true, fid, withdrawn, claimed: claimedAt !== null }
}

/** Throws ERR_NONCE_USED when the nonce is used; a replay of the very same proof gets the original answer with it. */
async function refuseUsed(db: Queryable, { fid, action, method, proof, proofSha256 }: Attempt): Promise<void> {
  const used = await findAction(db, { fid, action, method, nonce: proof.nonce })
  if (used) throw usedError({ fid, method }, used, used.proofSha256.equals(proofSha256))
}

async function refuseUsedManifest(
  db: Queryable,
  { fid, action, method, proof }: Attempt,
  manifestSha256: Buffer,
): Promise<void> {
  if (proof.host === undefined) return
  const used = await findManifestAction(db, { fid, action, host: proof.host, manifestSha256 })
  if (used) throw usedError({ fid, method }, used, true)
}

function usedError(of: { fid: number; method: string }, { nonce, answer }: UsedAction, isReplay: boolean): ApiError {
  const fields = { ...of, nonce }
  const detail = 'a proof needs a nonce, and a manifest contents, that were not used yet'
  return new ApiError('ERR_NONCE_USED', detail, isReplay ? { ...fields, replay: true, original: answer } : fields)
}
