/** A message about an address, as it was known when a claim was accepted. */
interface ProvingMessage {
  readonly address: string
  /** As the hub gave it; null: there was none that could be kept. */
  readonly message: unknown
  readonly verdict: string | null
  readonly first_seen_at: string
  readonly before_custody: boolean
  /** What its contract wallet answered when it was asked last; null: it is none, or was not asked. */
  readonly wallet: {
    readonly block_number: number
    readonly block_hash: string
    readonly code_sha256: string | null
    readonly answer: string
  } | null
}

/** A key that signed, and where it stands. */
interface ProvingKey {
  /** Lowercase hex with 0x. */
  readonly key: string
  readonly source: 'chain' | 'offchain'
  readonly added: KeyLog | null
  /** The message that added it off the chain, as the hub gave it, and who signed for it. */
  readonly key_add: unknown
  readonly key_add_signer: string | null
  /** The newest message that removes it off the chain, as the hub gave it, and who signed for that; null: the key itself. */
  readonly key_remove: unknown
  readonly key_remove_signer: string | null
  /** Whether the registry has said that it is removed, and the log that says so, as far as it was found. */
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
  readonly state: 'live' | 'suspended' | 'ended'
  readonly claimed_at: string
  readonly checked_at: string
  readonly ended_at: string | null
  readonly end_reason: string | null
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
  /** Whose the FID was when its chain was asked last; null: it was not asked. */
  readonly custody_read: {
    readonly address: string
    readonly block_number: number
    readonly block_hash: string
  } | null
  /** Hubs that are asked, how they stood then, and messages of the FID that others have, or the followed one lacks. */
  readonly hubs: readonly {
    readonly url: string
    readonly witness: boolean
    readonly checked_at: string
    /** Why it was not believed; null: it was. */
    readonly doubt: string | null
    readonly has: readonly string[]
    readonly lacks: readonly string[]
  }[]
}
