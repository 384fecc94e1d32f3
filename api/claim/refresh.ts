import { claimLimits } from '../../config/limits.claims.ts'
import { standingClaims } from '../../db/queries/claims/claim-checks.ts'
import { liveAddresses, standingOf } from '../../db/queries/verifications/verified-addresses.ts'
import { wouldChange } from '../../db/queries/verifications/verified-changes.ts'
import { emptyAfterMs, settledBefore } from '../../social/hub-staleness.ts'
import { ApiError } from '../http/errors.ts'
import type { AttemptCounter } from './attempts.ts'
import type { ClaimDeps } from './claim.ts'
import { addressesOf, verificationsOf } from './verified-set.ts'

/** Body of a 200 answer to a refresh. */
interface RefreshAnswer {
  readonly ok: true
  readonly fid: number
  readonly outcome: 'changed' | 'unchanged' | 'unavailable'
  readonly asked: readonly ('hub' | 'registry')[]
}

const { fid: perFid, client: perClient } = claimLimits.refreshes

/**
 * Asks the hub and the KeyRegistry now whether what is stored of an account still holds. If not, the account is queued
 * at the enrichment job, which stores the change: outcome `changed`, unless it would keep what it has, such as what
 * another hub still knows. Outcome `unavailable`: a source did not answer. Throws ApiError.
 */
export function createRefresh(deps: ClaimDeps): (fid: number, client: string) => Promise<RefreshAnswer> {
  return async (fid, client) => {
    const { listed, claimed, unlisted } = await standingOf(deps.database, fid)
    if (unlisted || !(listed || claimed)) throw new ApiError('ERR_NOT_FOUND', 'no agent with this fid')
    await countRefresh(deps.attempts, `refresh client:${client}`, perClient, 'a client')
    await countRefresh(deps.attempts, `refresh fid:${fid}`, perFid, 'a fid')
    const asked: ('hub' | 'registry')[] = []
    try {
      const now = new Date(deps.now())
      const live = await verificationsOf(deps, fid)
      asked.push('hub')
      const stored = (await liveAddresses(deps.database, [fid])).get(fid) ?? []
      const areOther = addressesOf(live).join() !== stored.join()
      const answer = { fid, live, now, settledBefore: settledBefore(now), emptyAfterMs }
      const changes = (areOther && (await wouldChange(deps.database, answer))) || (await keysDiffer(fid, deps, asked))
      if (changes || areOther) await deps.askAgain(fid)
      return { ok: true, fid, outcome: changes ? 'changed' : 'unchanged', asked }
    } catch (error) {
      if (error instanceof ApiError) throw error
      return { ok: true, fid, outcome: 'unavailable', asked }
    }
  }
}

/** Whether an app key is active while its claim is suspended for it, or inactive while its claim is live and may end. */
async function keysDiffer(
  fid: number,
  { database, registries, claimsLapse }: ClaimDeps,
  asked: string[],
): Promise<boolean> {
  const claims = (await standingClaims(database, fid)).filter(({ method }) => method === 'jfs')
  if (!claimsLapse || !registries.canAnswer || claims.length === 0) return false
  const active = await Promise.all(claims.map(({ signer }) => registries.isActiveAppKey(fid, signer as `0x${string}`)))
  asked.push('registry')
  return claims.some(({ state, evidence }, index) => {
    const isForKey = (evidence as { reason?: unknown } | null)?.reason === 'key_removed'
    return active[index] ? state === 'suspended' && isForKey : state === 'live'
  })
}

async function countRefresh(
  counter: AttemptCounter,
  key: string,
  { attempts: most, seconds }: { readonly attempts: number; readonly seconds: number },
  whose: string,
): Promise<void> {
  const { attempts, leftMs } = await counter.count(key, seconds)
  if (attempts <= most) return
  throw new ApiError('ERR_RATE_LIMITED', `at most ${most} refreshes ${whose} in ${seconds} seconds`, {
    limits: { attempts: most, windowSeconds: seconds },
    retryAfterSeconds: Math.ceil(leftMs / 1_000),
  })
}
