import type { Json } from '../canonical-json.ts'
import type { AddressProof } from './proof.ts'

/** Verification of an address, as the database knew it when a claim was accepted. */
interface ProvingMessage {
  readonly address: string
  /** Message as JSON, as the hub gave it; null: there was none that could be stored. */
  readonly message: unknown
  readonly verdict: AddressProof['verdict'] | null
  readonly first_seen_at: string
  readonly before_custody: boolean
  /** Last answer of the address's contract wallet; null: the address is a key, or was not asked. */
  readonly wallet: {
    readonly block_number: number
    readonly block_hash: string
    readonly code_sha256: string | null
    readonly answer: string
  } | null
}

/** A key that signed messages or the claim, and what made it the FID's key. */
interface ProvingKey {
  /** Public key, lowercase hex with 0x. */
  readonly key: string
  readonly source: 'chain' | 'offchain'
  readonly added: KeyLog | null
  /** Message that added the key off the chain, as the hub gave it, and the address that signed for it. */
  readonly key_add: unknown
  readonly key_add_signer: string | null
  /** Newest message that removes the key off the chain, as the hub gave it; its signer, null: the key itself. */
  readonly key_remove: unknown
  readonly key_remove_signer: string | null
  /** Whether the registry says the key is removed, and the log of the removal; null: none, or not found. */
  readonly removed: boolean
  readonly removed_log: Omit<KeyLog, 'request_fid'> | null
}

interface KeyLog {
  readonly block_number: number
  readonly block_hash: string
  readonly tx_hash: string
  readonly log_index: number
  readonly request_fid: number | null
}

export interface ProvableClaim {
  readonly fid: number
  readonly method: string
  readonly nonce: string
  readonly signer: string
  readonly proof: unknown
  readonly host_link: string | null
  /** What the link rests on; null: there is none. */
  readonly host_link_evidence: Json | null
  readonly state: 'live' | 'suspended' | 'ended'
  readonly claimed_at: string
  readonly checked_at: string
  readonly ended_at: string | null
  readonly end_reason: string | null
  /** What withdrew the claim, once it is public; null: nothing did. */
  readonly withdrawal: {
    readonly method: string
    readonly signer: string
    readonly proof: unknown
    readonly accepted_at: string
  } | null
  readonly addresses: readonly ProvingMessage[]
  readonly keys: readonly ProvingKey[]
  /** The last change of custody; null: there was none. */
  readonly custody: {
    readonly address: string
    readonly block_number: number
    readonly tx_hash: string
    readonly log_index: number
    readonly kind: string
  } | null
  /** Custody address that the registry gave when last asked, and the block; null: it was not asked. */
  readonly custody_read: {
    readonly address: string
    readonly block_number: number
    readonly block_hash: string
  } | null
  /** Hubs, whether they were believed, and hashes of the FID's messages that each was found to have or lack. */
  readonly hubs: readonly {
    readonly url: string
    readonly witness: boolean
    readonly checked_at: string
    /** Why the hub was not believed; null: it was. */
    readonly doubt: string | null
    readonly has: readonly string[]
    readonly lacks: readonly string[]
  }[]
}
