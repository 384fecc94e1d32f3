import type { Queryable } from '../../db/pool.ts'
import { lastEnd } from '../../db/queries/claims/claim-actions.ts'
import {
  type ClaimOutcome,
  claimState,
  claimsSince,
  findClaim,
  findManifestClaim,
  insertClaim,
  lockClaims,
  storeStatus,
} from '../../db/queries/claims/claims.ts'
import { waitForStandby } from '../../db/safe-transaction.ts'
import { canonicalJson } from '../../trust/canonical-json.ts'
import { ApiError } from '../http/errors.ts'
import { lastUtcMidnight } from '../limits/window.ts'
import { type AttemptCounter, refuseBeyondDay } from './attempts.ts'
import { examineProof, type ReadProof, readProof, type SentProof } from './examination.ts'
import { type ClaimWorld, invalidFields, unlinkedHost, type VerifiedProof } from './proof-method.ts'
import { type ClaimMethod, claimMethods } from './request.ts'

export interface ClaimDeps extends ClaimWorld {
  readonly attempts: AttemptCounter
  /** Runs work in one database transaction; resolves once a failover can no longer lose it. */
  readonly transaction: <T>(work: (db: Queryable) => Promise<T>) => Promise<T>
  /** Queues an account at the enrichment job, ahead of routine work. */
  readonly askAgain: (fid: number) => Promise<void>
  /** Called after a claim or action is stored, with the verified set, before the client is answered; must not throw. */
  readonly accepted: (fid: number, verifiedAddresses: readonly string[]) => Promise<void>
  /** Secret that keys of webhooks are derived from; undefined: the service sends none. */
  readonly webhookSecret?: string | undefined
  /** Reports the outcome of each claim but dry runs: `accepted`, the code of its refusal, or `unanswered`. */
  readonly judged: (method: ClaimMethod, outcome: string) => void
}

export interface ClaimAttempt extends SentProof {
  /** Whether every check is made and nothing stored. */
  readonly dryRun: boolean
  /** The client as the limiter names it; not stored with the claim. */
  readonly client: string
}

/** Body of a 200 answer to a claim. */
interface ClaimAnswer {
  readonly ok: true
  readonly fid: number
  readonly method: ClaimMethod
  /** Whether the FID is claimed; after a dry run, whether it already was. */
  readonly claimed: boolean
  readonly claimed_at: string | null
  readonly nonce: string
  readonly verified_addresses: readonly string[]
  readonly agent_status: string
  readonly profile_url: string
  readonly dry_run?: true
}

/** Judges claims. Refusals are ApiErrors; any other error means that a source did not answer. */
export function createClaims(deps: ClaimDeps): (attempt: ClaimAttempt) => Promise<ClaimAnswer> {
  const underWay = new Map<string, Promise<unknown>>()

  const judgeOnce = async (read: () => ReadProof, { dryRun, client }: ClaimAttempt) => {
    const receivedAt = new Date(deps.now())
    const attempt = read()
    const decide = () => judge(attempt, { receivedAt, dryRun, client }, deps)
    // Copies of a claim that is being judged wait for its outcome, then mostly end as replays of it.
    const copyOf = attempt.proofSha256.toString('hex')
    const first = underWay.get(copyOf)
    if (first) return first.catch(() => {}).then(decide)
    const decided = decide()
    underWay.set(copyOf, decided)
    return decided.finally(() => underWay.delete(copyOf))
  }
  return async (attempt) => {
    const { method, read } = readProof(attempt, 'claim', claimMethods, deps)
    const count = (outcome: string) => attempt.dryRun || deps.judged(method, outcome)
    try {
      const answered = await judgeOnce(read, attempt)
      count('accepted')
      return answered
    } catch (error) {
      count(error instanceof ApiError ? error.code : 'unanswered')
      throw error
    }
  }
}

async function judge(
  attempt: ReadProof,
  { receivedAt, dryRun, client }: { receivedAt: Date; dryRun: boolean; client: string },
  deps: ClaimDeps,
): Promise<ClaimAnswer> {
  const { fid, method, proof } = attempt
  const refuseKnown = (manifestSha256: Buffer) => refuseUsedManifest(attempt, manifestSha256, deps)
  const used = { refuse: () => refuseUsed(attempt, deps), refuseManifest: refuseKnown }
  const verified = await examineProof(attempt, used, { attempts: deps.attempts, client })
  const host = unlinkedHost(attempt, verified)
  if (verified.manifestSha256) await refuseKnown(verified.manifestSha256) // accepted while this one was checked
  if (dryRun) {
    const at = new Date(deps.now())
    refuseBefore(await lastEnd(deps.database, fid, verified.signer), verified, deps)
    await refuseUsed(attempt, deps) // accepted while this one was checked
    refuseBeyondDay(await claimsToday(deps.database, { fid, host }, at), at.getTime())
    const { claimedAt, agentStatus } = await claimState(deps.database, fid)
    const outcome = { claimedAt, agentStatus, verifiedAddresses: verified.verifiedAddresses }
    return { ...answer(attempt, outcome, deps), dry_run: true }
  }
  const claim = {
    fid,
    method,
    nonce: proof.nonce,
    proofSha256: attempt.proofSha256,
    receivedAt,
    proof: verified.proof,
    signer: verified.signer,
    hostLink: verified.hostLink,
    manifestSha256: verified.manifestSha256,
    signedAt: verified.signedAt === undefined ? null : new Date(verified.signedAt),
    verifiedAddresses: verified.verifiedAddresses,
    evidence: canonicalJson({ proof_sha256: attempt.proofSha256.toString('hex') }),
  }
  const outcome = await deps.transaction(async (db) => {
    await lockClaims(db, fid)
    refuseBefore(await lastEnd(db, fid, verified.signer), verified, deps)
    const claimedAt = new Date(deps.now())
    const before = await claimsToday(db, { fid, host }, claimedAt)
    const stored = await insertClaim(db, { ...claim, claimedAt })
    if (stored) refuseBeyondDay(before, claimedAt.getTime()) // a copy of a claim is told as one first
    return stored
  })
  if (!outcome) {
    await refuseUsed(attempt, deps)
    if (verified.manifestSha256) await refuseKnown(verified.manifestSha256)
    throw new Error(`the claim of fid ${fid} was neither stored nor found`)
  }
  await deps.accepted(fid, outcome.verifiedAddresses)
  // As the profile says now: what the claim brought into the index was not derived when it was stored.
  const agentStatus = await deps.transaction((db) => storeStatus(db, { fid, method, nonce: proof.nonce }))
  return answer(attempt, { ...outcome, agentStatus }, deps)
}

const claimsToday = (db: Queryable, by: { fid: number; host: string | undefined }, at: Date) =>
  claimsSince(db, { ...by, since: new Date(lastUtcMidnight(at.getTime())) })

/** Throws unless the proof was signed after the FID's last claim ended: an older one must not revive it. */
function refuseBefore(end: Date | undefined, { signedAt, proof }: VerifiedProof, { windowSeconds, now }: ClaimDeps) {
  if (!end || (signedAt !== undefined && signedAt > end.getTime())) return
  const problem = `must be later than ${end.toISOString()}, when a claim of the fid ended`
  if (signedAt === undefined) throw invalidFields([{ path: 'manifest.timestamp', problem }])
  throw new ApiError('ERR_SIG_EXPIRED', `the timestamp ${problem}`, {
    timestamp: (proof as { timestamp?: string }).timestamp ?? new Date(signedAt).toISOString(),
    server_time: new Date(now()).toISOString(),
    window_seconds: windowSeconds,
  })
}

/** Throws ERR_NONCE_USED when the nonce is used; a replay of the very same proof gets the original answer with it. */
async function refuseUsed(attempt: ReadProof, deps: ClaimDeps): Promise<void> {
  const { fid, method, proof, proofSha256 } = attempt
  const key = { fid, method, nonce: proof.nonce }
  const used = await findClaim(deps.database, key)
  if (!used) return
  const isReplay = used.proofSha256.equals(proofSha256)
  if (isReplay) await deps.transaction(waitForStandby) // the answer acknowledges the claim, so a failover must keep it
  const replay = isReplay && { replay: true, original: answer(attempt, used, deps) }
  throw new ApiError('ERR_NONCE_USED', 'a claim needs a nonce that was not used yet', { ...key, ...replay })
}

/** Throws ERR_NONCE_USED, with its first claim, for a manifest used before: the nonce next to it is not signed. */
async function refuseUsedManifest(
  { fid, method, proof }: ReadProof,
  manifestSha256: Buffer,
  deps: ClaimDeps,
): Promise<void> {
  if (proof.host === undefined) return
  const used = await findManifestClaim(deps.database, { fid, host: proof.host, manifestSha256 })
  if (!used) return
  await deps.transaction(waitForStandby)
  const original = answer({ fid, method, proof: { ...proof, nonce: used.nonce } }, used, deps)
  const fields = { fid, method, nonce: used.nonce, replay: true, original }
  throw new ApiError('ERR_NONCE_USED', 'this manifest was accepted before; a new claim needs a changed one', fields)
}

function answer(
  { fid, method, proof }: Omit<ReadProof, 'proofSha256'>,
  outcome: Omit<ClaimOutcome, 'claimedAt' | 'verifiedAddresses'> & {
    readonly claimedAt: Date | null
    readonly verifiedAddresses: readonly string[]
  },
  { siteUrl }: ClaimDeps,
): ClaimAnswer {
  return {
    ok: true,
    fid,
    method,
    claimed: outcome.claimedAt !== null,
    claimed_at: outcome.claimedAt?.toISOString() ?? null,
    nonce: proof.nonce,
    verified_addresses: outcome.verifiedAddresses,
    agent_status: outcome.agentStatus,
    profile_url: `${siteUrl}/agent/${fid}`,
  }
}
