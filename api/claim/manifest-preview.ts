import { findManifestClaim } from '../../db/queries/claims/claims.ts'
import { ApiError } from '../http/errors.ts'
import { countProof } from './attempts.ts'
import type { ClaimDeps } from './claim.ts'
import { keepLooks } from './looks.ts'
import { verifyManifest } from './well-known.ts'

/** Whether the manifest on a host would carry a claim, looked at before one is made. */
export interface ManifestStanding {
  /** `missing`: it cannot be fetched. `unknown`: the rate limit is reached, or a source does not answer. */
  readonly state: 'ready' | 'missing' | 'refused' | 'unknown'
  /** Why the state is `refused`, in our words alone, no text of the host's; else undefined. */
  readonly why?: string | undefined
}

export type ManifestLook = (fid: number, host: string, client: string) => Promise<ManifestStanding>

/**
 * Looks at manifests as a claim would, under the same limits but counted apart: viewing a page uses up nobody's
 * attempts to claim.
 */
export function createManifestLook(deps: ClaimDeps): ManifestLook {
  const kept = keepLooks<ManifestStanding>(deps.now)
  return (fid, host, client) => kept(`${fid} ${host}`, () => look(deps, fid, host, client))
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
