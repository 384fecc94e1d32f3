import { findManifestClaim } from '../../db/queries/join/claims.ts'
import { minute } from '../../ops/time.ts'
import { ApiError } from '../http/errors.ts'
import { countProof } from './attempts.ts'
import type { ClaimDeps } from './claim.ts'
import { verifyManifest } from './well-known.ts'

/** Whether the manifest on a host would carry a claim, looked at before one is made. */
export interface ManifestStanding {
  /** `missing`: it cannot be fetched. `unknown`: the rate limit is reached, or a source does not answer. */
  readonly state: 'ready' | 'missing' | 'refused' | 'unknown'
  /** Why the state is `refused`, in our words alone, no text of the host's; else undefined. */
  readonly why?: string | undefined
}

export type ManifestLook = (fid: number, host: string, client: string) => Promise<ManifestStanding>

/** How long a result is cached, and how many are; one that is `unknown` is not: the next client may see the file. */
const freshMs = minute
const mostKept = 1_000

/**
 * Looks at manifests as a claim would, under the same limits but counted apart: viewing a page uses up nobody's
 * attempts to claim.
 */
export function createManifestLook(deps: ClaimDeps): ManifestLook {
  const kept = new Map<string, { readonly until: number; readonly standing: Promise<ManifestStanding> }>()
  return async (fid, host, client) => {
    const key = `${fid} ${host}`
    const known = kept.get(key)
    if (known && known.until > deps.now()) {
      const standing = await known.standing
      if (standing.state !== 'unknown') return standing
    }
    kept.delete(key)
    const looked = { until: deps.now() + freshMs, standing: look(deps, fid, host, client) }
    kept.set(key, looked)
    if (kept.size > mostKept) kept.delete(kept.keys().next().value as string)
    const standing = await looked.standing
    if (standing.state === 'unknown' && kept.get(key) === looked) kept.delete(key)
    return standing
  }
}

async function look(deps: ClaimDeps, fid: number, host: string, client: string): Promise<ManifestStanding> {
  try {
    const answered = await countProof(deps.attempts, { client, fid, host }, 'look ')
    const { sha256 } = await verifyManifest({ fid, host, nonce: undefined }, deps, 'claim', (manifest) =>
      answered(manifest?.namedFid),
    )
    const used = await findManifestClaim(deps.database, { fid, host, manifestSha256: sha256 })
    return used
      ? { state: 'refused', why: 'it was accepted before; a new claim needs a changed one' }
      : { state: 'ready' }
  } catch (error) {
    if (!(error instanceof ApiError) || error.code.startsWith('ERR_RATE_LIMIT')) return { state: 'unknown' }
    return error.code === 'ERR_MANIFEST_FETCH_FAILED' ? { state: 'missing' } : { state: 'refused', why: error.detail }
  }
}
