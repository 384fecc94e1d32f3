import { type Json, jsonSha256 } from '../canonical-json.ts'
import type { SealedClaimEvent } from '../claim-event.ts'

/**
 * Everything a stranger needs to check a claim without asking us: what was signed, by whom, and what stands behind each
 * signer. Bytes are 0x hex, times ISO 8601 with milliseconds and Z.
 */
export interface ClaimProof {
  readonly schema: typeof proofSchema
  readonly service: string
  readonly base_url: string
  readonly site_url: string
  readonly fid: number
  readonly method: string
  /** With FID and method it names the claim. */
  readonly nonce: string
  readonly state: 'live' | 'suspended' | 'ended'
  readonly claimed_at: string
  readonly checked_at: string
  readonly ended: { readonly at: string; readonly reason: string; readonly evidence: Json } | null
  readonly statement: Statement
  readonly address_proofs: readonly AddressProof[]
  readonly keys: readonly KeyPlace[]
  readonly custody: Custody | null
  /** Who told, and which messages each has. */
  readonly sources: readonly { readonly operator: string; readonly asked_at: string; readonly has: readonly string[] }[]
  /** All events of the FID's claims, the oldest first. */
  readonly history: readonly SealedClaimEvent[]
  /** SHA-256 of the canonical form of all the other fields. */
  readonly sha256: string
}

export const proofSchema = 'claim-proof/1'

/** What the claimant signed or published. */
export type Statement =
  | {
      readonly kind: 'eip191'
      readonly text: string
      readonly address: string
      readonly chain_id: number
      readonly nonce: string
      readonly timestamp: string
      readonly signature: string
    }
  | { readonly kind: 'jfs'; readonly header: string; readonly payload: string; readonly signature: string }
  | {
      readonly kind: 'well-known'
      readonly url: string
      readonly body: string
      readonly sha256: string
      readonly fetched_at: string
      readonly host_link: string | null
    }

export interface AddressProof {
  readonly address: string
  readonly verdict: string
  /** Null: the hub's message could not be read as one that can be checked. */
  readonly message: {
    readonly data_bytes: string
    readonly hash: string
    readonly signature: string
    readonly signer: string
  } | null
  readonly verification: {
    readonly type: number
    readonly chain_id: number
    readonly block_hash: string
    readonly claim_signature: string
    readonly digest: string
  } | null
  readonly first_seen_at: string
  /** Signed before the FID's last transfer, so not by its owner of today. */
  readonly before_custody: boolean
}

export interface KeyPlace {
  readonly key: string
  /** What the KeyRegistry answers; null: it was not asked. */
  readonly state: number | null
  readonly chain_id: number
  readonly contract: string
  /** The block it was asked at. */
  readonly block_number: number | null
}

interface Custody {
  readonly address: string
  readonly chain_id: number
  readonly contract: string
  /** The last change of custody; null: there was none since the FID was registered. */
  readonly since: {
    readonly block_number: number
    readonly tx_hash: string
    readonly log_index: number
    readonly kind: string
  } | null
  readonly block_number: number | null
}

export function sealProof(proof: Omit<ClaimProof, 'sha256'>): ClaimProof {
  return { ...proof, sha256: jsonSha256(proof as unknown as Json) }
}
