import type { Address, Hex } from 'viem'
import type { Registries } from './key-registry.ts'

/** What is known here of a key that signed for a FID, before anybody is asked. */
export interface KeyFacts {
  /** Block in which the FID last changed hands; null: never. */
  readonly transferBlock: number | null
  /** Who signed for the key off the chain, lowercase; null: no such message is known. */
  readonly keyAddSigner: Address | null
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

/** Asks where the key of a message stands. Throws NoAnswer when there is no answer. */
export async function askKeyStanding(
  registries: Pick<Registries, 'hadAppKey' | 'addedAppKeyAfter' | 'isCustody'>,
  { fid, key }: { readonly fid: number; readonly key: Hex },
  { transferBlock, keyAddSigner, formerCustodies }: KeyFacts,
): Promise<KeyStanding> {
  if ((await registries.hadAppKey(fid, key)) === 'held') {
    const beforeCustody = transferBlock !== null && !(await registries.addedAppKeyAfter(fid, key, transferBlock))
    return { outcome: 'held', source: 'chain', beforeCustody }
  }
  if (keyAddSigner === null) return { outcome: 'failed', source: null, beforeCustody: false }
  if (await registries.isCustody(fid, keyAddSigner))
    return { outcome: 'held', source: 'offchain', beforeCustody: false }
  return formerCustodies.includes(keyAddSigner)
    ? { outcome: 'held', source: 'offchain', beforeCustody: true }
    : { outcome: 'failed', source: null, beforeCustody: false }
}
