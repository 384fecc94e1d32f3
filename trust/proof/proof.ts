import { type Json, jsonSha256 } from '../canonical-json.ts'
import type { SealedClaimEvent } from '../claim-event.ts'

/**
 * Everything a stranger needs to check a claim without asking us: what was signed, by whom, and the evidence for each
 * signer. Bytes are 0x hex, times ISO 8601 with milliseconds and Z.
 */
export interface ClaimProof {
  readonly schema: typeof proofSchema
  readonly service: string
  readonly base_url: string
  readonly site_url: string
  readonly fid: number
  readonly method: string
  /** Nonce of the claim, which FID, method and nonce identify. */
  readonly nonce: string
  readonly state: 'live' | 'suspended' | 'ended'
  readonly claimed_at: string
  readonly checked_at: string
  readonly ended: Ended | null
  readonly statement: Statement
  readonly address_proofs: readonly AddressProof[]
  readonly keys: readonly KeyPlace[]
  readonly custody: Custody | null
  /** Hubs that were asked: the one the directory follows, and witnesses. */
  readonly sources: readonly HubWord[]
  /**
   * Events of the FID's claims, the oldest first: the newest `proofEvents`, and before them the first and the last of this
   * claim where they are older.
   */
  readonly history: readonly SealedClaimEvent[]
  /** Where the service's transparency log has this claim; null: the service has signed no log. */
  readonly log: ClaimLog | null
  /** SHA-256 of the canonical form of all the other fields. */
  readonly sha256: string
}

interface Ended {
  readonly at: string
  readonly reason: string
  /** As in the event of the end. */
  readonly evidence: Json
  /** What was signed or published to withdraw the claim; null: it ended otherwise, or that is not public yet. */
  readonly statement: Statement | null
}

/** Entries of a transparency log, as far as they are in the tree of a checkpoint: docs/log.md. */
export interface ClaimLog {
  /** Name, id and public key of the signer, as C2SP signed-note writes them. */
  readonly key: string
  /** The signed note, by C2SP tlog-checkpoint. */
  readonly checkpoint: string
  /** Of the claim's first and last event: the last one's digest covers those between. */
  readonly entries: readonly LogEntry[]
}

interface LogEntry {
  /** Number of the event among those of the FID's claims. */
  readonly seq: number
  /** Number of the entry in the log: 0, 1, 2 … */
  readonly index: number
  /** Inclusion proof, RFC 9162, section 2.1.3: the hash beside the leaf first. Lowercase hex. */
  readonly hashes: readonly string[]
}

interface HubWord {
  readonly operator: string
  readonly witness: boolean
  readonly asked_at: string
  /** `believed`, or why the hub's answers did not count at that time. */
  readonly standing: string
  /** Hashes of the addresses' messages that the hub has, or lacks; in neither list: it was not asked about it. */
  readonly has: readonly string[]
  readonly lacks: readonly string[]
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
      /** What linked the host to the FID; null: nothing had to. */
      readonly host_link: { readonly kind: string; readonly evidence: Json } | null
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
  /** Answer of a contract wallet, at which block of its chain; null: a key signed, or it was not asked. */
  readonly wallet: {
    readonly chain_id: number
    readonly block_number: number
    readonly block_hash: string
    /** SHA-256 of the wallet's code at that block; null: it was not deployed yet. */
    readonly code_sha256: string | null
    /** ERC-1271, or ERC-6492 for a wallet that was not deployed yet. */
    readonly standard: '1271' | '6492'
    readonly answer: string
  } | null
}

/** Position of a registry's log on its chain. */
interface LogPlace {
  readonly chain_id: number
  readonly contract: string
  readonly block_number: number
  readonly block_hash: string
  readonly tx_hash: string
  readonly log_index: number
}

/** The message that added a key off the chain, its fields, and the address that signed for it. */
interface KeyAddProof {
  readonly message: {
    readonly data_bytes: string
    readonly hash: string
    readonly signature: string
    readonly signer: string
  }
  readonly timestamp: number
  readonly key_type: number
  readonly scopes: readonly number[]
  readonly ttl: number
  readonly nonce: number
  readonly deadline: number
  readonly metadata: string
  readonly metadata_type: number
  readonly custody_signature: string
  readonly signed_by: string
}

/** The message that removed a key off the chain, its fields, and the address that signed for it. */
interface KeyRemoveProof {
  readonly message: KeyAddProof['message']
  readonly timestamp: number
  readonly signature: string
  /** Who signed the removal. 1: the custody address; 2: the key itself. */
  readonly signature_type: number
  readonly nonce: number
  readonly deadline: number
  /** Address that signed the removal; null: the key itself did. */
  readonly signed_by: string | null
}

export interface KeyPlace {
  readonly key: string
  /** What makes it the FID's key: `chain`, the KeyRegistry; `offchain`, a message that the custody address signed. */
  readonly source: 'chain' | 'offchain'
  /** State in the KeyRegistry, 1 added or 2 removed; null: an off-chain key. */
  readonly state: number | null
  /** Logs that added and removed the key; null: none, or not found. */
  readonly add: LogPlace | null
  readonly remove: LogPlace | null
  /** FID of the app that requested the key; null: not known. */
  readonly request_fid: number | null
  readonly key_add: KeyAddProof | null
  /** Message that removed the key; what it signed before still counts. Null: none did. */
  readonly key_remove: KeyRemoveProof | null
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
  /** Block at which the registry confirmed the address; null: not asked since the last change of custody. */
  readonly read_at: { readonly block_number: number; readonly block_hash: string } | null
}

export function sealProof(proof: Omit<ClaimProof, 'sha256'>): ClaimProof {
  return { ...proof, sha256: jsonSha256(proof as unknown as Json) }
}
