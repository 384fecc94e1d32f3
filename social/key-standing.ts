import type { Address, Hex } from 'viem'
import type { Registries } from './key-registry.ts'

/** What is known here of a key that signed for a FID, before anybody is asked. */
export interface KeyFacts {
  /** Block in which the FID last changed hands; null: never. */
  readonly transferBlock: number | null
  /** Who signed for the key off the chain, lowercase; null: no such message is known. */
  readonly keyAddSigner: Address | null
  /** When a message removed the key off the chain, and who signed that, lowercase; no signer: the key itself. */
  readonly keyRemoval: { readonly at: Date; readonly signer: Address | null } | null
  /** Who had the FID before, lowercase. */
  readonly formerCustodies: readonly Address[]
}

/** Where a key stands, as the chain says it. */
export interface KeyStanding {
  /** `held`: it is, or was, an app key of the FID. `failed`: it never was. */
  readonly outcome: 'held' | 'failed'
  /** Who says so: the KeyRegistry, or the custody address's own signature. */
  readonly source: 'chain' | 'offchain' | null
  /** It was added for somebody who had the FID before: it may still be in his hands. */
  readonly beforeCustody: boolean
}

/**
 * Asks where the key of a message stands, which was signed at `at`: what a key signed stays when the key is removed, and
 * it signs nothing any more. Throws NoAnswer when there is no answer.
 */
export async function askKeyStanding(
  registries: Pick<Registries, 'hadAppKey' | 'addedAppKeyAfter' | 'isCustody'>,
  { fid, key, at }: { readonly fid: number; readonly key: Hex; readonly at?: Date },
  { transferBlock, keyAddSigner, keyRemoval, formerCustodies }: KeyFacts,
): Promise<KeyStanding> {
  if ((await registries.hadAppKey(fid, key)) === 'held') {
    const beforeCustody = transferBlock !== null && !(await registries.addedAppKeyAfter(fid, key, transferBlock))
    return { outcome: 'held', source: 'chain', beforeCustody }
  }
  const none = { outcome: 'failed', source: null, beforeCustody: false } as const
  if (keyAddSigner === null) return none
  if (keyRemoval && at && at >= keyRemoval.at) {
    const { signer } = keyRemoval
    const isOwn = signer === null || signer === keyAddSigner || (await registries.isCustody(fid, signer))
    if (isOwn) return none
  }
  if (await registries.isCustody(fid, keyAddSigner))
    return { outcome: 'held', source: 'offchain', beforeCustody: false }
  return formerCustodies.includes(keyAddSigner) ? { outcome: 'held', source: 'offchain', beforeCustody: true } : none
}
