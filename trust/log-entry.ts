import { canonicalJson } from './canonical-json.ts'
import type { SealedClaimEvent } from './claim-event.ts'

/**
 * Entry of the transparency log for an event of a claim: docs/log.md.
 *
 * `proof` is the SHA-256 by which the events name what was signed to claim.
 */
export function claimEntry(
  { fid, at, kind, seq, sha256 }: Pick<SealedClaimEvent, 'fid' | 'at' | 'kind' | 'seq' | 'sha256'>,
  proof: string,
): Buffer {
  return Buffer.from(canonicalJson({ type: 'claim', fid, at, event: kind, seq, digest: sha256, proof }))
}
