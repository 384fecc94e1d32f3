import type { Address, Hex } from 'viem'
import type { Registries } from './key-registry.ts'

/** What is known here of a key that signed for a FID, before anybody is asked. */
export interface KeyFacts {
  /** Block in which the FID last changed hands; null: never. */
  readonly transferBlock: number | null
  /** Who signed for the key off the chain, lowercase; null: no such message is known. */
  readonly keyAddSigner: Address | null
  /** What removed the key off the chain; null: nothing that is known. */
  readonly keyRemoval: KeyRemoval | null
  /** When the message was first read here that the key signed; null: not before now. */
  readonly messageSeenAt: Date | null
  /** Who had the FID before, lowercase. */
  readonly formerCustodies: readonly Address[]
}

/** A message that removed a key off the chain. */
interface KeyRemoval {
  /** The time that its signer wrote. */
  readonly at: Date
  /** When it was first read here; null: before that was noted. */
  readonly seenAt: Date | null
  /** Who signed for it, lowercase; null: the key itself. */
  readonly signer: Address | null
}

/** Where a key stands, as the chain says it. */
export interface KeyStanding {
  /** `held`: it is, or was, an app key of the FID. `failed`: it never was. */
  readonly outcome: 'held' | 'failed'
  /** Who says so: the KeyRegistry, or the custody address's own signature. */
  readonly source: 'chain' | 'offchain' | null
  /** It was added for an earlier owner of the FID, who may still have it. */
  readonly beforeCustody: boolean
}

/** When a message was signed, as its signer wrote, and when it was first read here. */
interface SignedTimes {
  readonly at: Date
  readonly seenAt: Date
}

/**
 * Asks where the key of a message stands, which was `signed` then: what a key signed stays when the key is removed, and
 * it signs nothing any more. Throws NoAnswer when there is no answer.
 */
export async function askKeyStanding(
  registries: Pick<Registries, 'hadAppKey' | 'addedAppKeyAfter' | 'isCustody'>,
  { fid, key, signed }: { readonly fid: number; readonly key: Hex; readonly signed?: SignedTimes },
  { transferBlock, keyAddSigner, keyRemoval, formerCustodies }: KeyFacts,
): Promise<KeyStanding> {
  if ((await registries.hadAppKey(fid, key)) === 'held') {
    const beforeCustody = transferBlock !== null && !(await registries.addedAppKeyAfter(fid, key, transferBlock))
    return { outcome: 'held', source: 'chain', beforeCustody }
  }
  const none = { outcome: 'failed', source: null, beforeCustody: false } as const
  if (keyAddSigner === null) return none
  if (keyRemoval && signed && isAfter(signed, keyRemoval)) {
    const { signer } = keyRemoval
    const isOwn = signer === null || signer === keyAddSigner || (await registries.isCustody(fid, signer))
    if (isOwn) return none
  }
  if (await registries.isCustody(fid, keyAddSigner))
    return { outcome: 'held', source: 'offchain', beforeCustody: false }
  return formerCustodies.includes(keyAddSigner) ? { outcome: 'held', source: 'offchain', beforeCustody: true } : none
}

/**
 * Whether a message counts as one of after a removal. Its time is its signer's own word: whoever has the key can write an
 * earlier one, but cannot have shown the message before he wrote it.
 */
function isAfter({ at, seenAt }: SignedTimes, removal: KeyRemoval): boolean {
  return at >= removal.at || (removal.seenAt !== null && seenAt > removal.seenAt)
}
