import type { Address, Hex } from 'viem'
import type { Registries } from './key-registry.ts'

/** What the database knows of a key that signed for a FID, before a chain is asked. */
export interface KeyFacts {
  /** Block in which the FID last changed hands; null: never. */
  readonly transferBlock: number | null
  /** Lowercase address that signed the off-chain message adding the key; null: no such message is known. */
  readonly keyAddSigner: Address | null
  /** Off-chain removal of the key; null: none is known. */
  readonly keyRemoval: KeyRemoval | null
  /** When the message that the key signed was first read here; null: just now. */
  readonly messageSeenAt: Date | null
  /** Whether that message was found to be of the FID's key before. */
  readonly messageHeld: boolean
  /** When the first message about an address of the FID was read here; null: just now. */
  readonly watchedSince: Date | null
  /** Earlier custody addresses of the FID, lowercase. */
  readonly formerCustodies: readonly Address[]
}

/** A message that removed a key off the chain. */
interface KeyRemoval {
  /** Time in the message, as its signer wrote it. */
  readonly at: Date
  /** When it was first read here; null: read before this time was recorded. */
  readonly seenAt: Date | null
  /** Lowercase address that signed the removal; null: the removed key signed it itself. */
  readonly signer: Address | null
}

/** Whether a key belongs to a FID, as its chain says. */
export interface KeyStanding {
  /** `held`: it is an app key of the FID, or was one when it signed. `failed`: it was not one. */
  readonly outcome: 'held' | 'failed'
  /** What vouches for the key: the KeyRegistry, or a custody address's signature off the chain; null: nothing. */
  readonly source: 'chain' | 'offchain' | null
  /** Whether the key was added for an earlier owner of the FID, who may still hold it. */
  readonly beforeCustody: boolean
}

/** Times of a message: `at` as its signer wrote it, `seenAt` when it was first read here; null: just now. */
interface SignedTimes {
  readonly at: Date
  readonly seenAt: Date | null
}

type Asked = Pick<Registries, 'appKeyState' | 'removedAt' | 'addedAppKeyAfter' | 'isCustody'>

/**
 * Asks whether the key of a message belongs, or belonged, to the FID when the message was `signed`: messages from
 * before the key's removal stay valid, later ones are not. Without `signed`, removals are ignored. Throws NoAnswer when
 * the chain does not answer.
 */
export async function askKeyStanding(
  registries: Asked,
  { fid, key, signed }: { readonly fid: number; readonly key: Hex; readonly signed?: SignedTimes },
  facts: KeyFacts,
): Promise<KeyStanding> {
  const { transferBlock, keyAddSigner, keyRemoval, formerCustodies } = facts
  const state = await registries.appKeyState(fid, key)
  const isOver = state === 'removed' && signed && (await isAfterRemoval(registries, { fid, key, signed }, facts))
  if (state !== 'never' && !isOver) {
    const beforeCustody = transferBlock !== null && !(await registries.addedAppKeyAfter(fid, key, transferBlock))
    return { outcome: 'held', source: 'chain', beforeCustody }
  }
  const none = { outcome: 'failed', source: isOver ? 'chain' : null, beforeCustody: false } as const
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
 * Whether a message counts as signed after the registry removed its key. The removal is public from its block on, but
 * what is read first of all about a FID may be as old as it says: it counts as later only when it was first read after
 * both. Without the block's time, only what was found to hold before the removal was known stays.
 */
async function isAfterRemoval(
  registries: Asked,
  { fid, key, signed }: { readonly fid: number; readonly key: Hex; readonly signed: SignedTimes },
  { messageHeld, watchedSince }: KeyFacts,
): Promise<boolean> {
  const at = await registries.removedAt(fid, key)
  if (at === null) return !messageHeld
  return isAfter(signed, { at, seenAt: watchedSince && (watchedSince > at ? watchedSince : at) })
}

/**
 * Whether a message counts as signed after the key's removal. Its time is only its signer's word, and a holder of the
 * key can backdate it; so the message also counts as later when it was first read here after the removal was.
 */
function isAfter({ at, seenAt }: SignedTimes, removal: Pick<KeyRemoval, 'at' | 'seenAt'>): boolean {
  return at >= removal.at || (removal.seenAt !== null && (seenAt === null || seenAt > removal.seenAt))
}
