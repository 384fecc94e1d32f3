import { type Hex, toHex } from 'viem'
import type { Queryable } from '../../db/pool.ts'
import { type StandingClaim, storedVerification } from '../../db/queries/claims/claim-checks.ts'
import { keyFactsOf } from '../../db/queries/sources/signer-keys.ts'
import { askKeyStanding, type KeyStanding } from '../../social/key-standing.ts'
import { networkTime } from '../../social/messages.ts'
import type { ProofWorld } from '../../social/proof-world.ts'
import type { SocialIndex } from '../../social/social-index.ts'
import { readHubMessage, type SignedMessage } from '../../trust/hub-message.ts'

interface CustodyWorld extends Pick<ProofWorld, 'registries'> {
  readonly database: Queryable
  readonly social: Pick<SocialIndex, 'verifications'>
  /** Throws when the followed hub is not believed. */
  believe(): Promise<void>
}

/** When the FID last changed hands. */
interface Change {
  readonly at: Date
  readonly block: number
}

/**
 * Whether a claim rests on what a FID had when it last changed hands, before the claim. Such a claim was accepted while
 * the change was not stored yet. Throws when the hub or the chain does not answer.
 */
export async function isOfFormerOwner(
  fid: number,
  { method, signer, proof }: Pick<StandingClaim, 'method' | 'signer' | 'proof'>,
  change: Change,
  world: CustodyWorld,
): Promise<boolean> {
  if (method === 'jfs') {
    const { registries } = world
    return registries.canAnswer && !(await registries.addedAppKeyAfter(fid, signer as Hex, change.block))
  }
  const addresses = method === 'eip191' ? [signer] : (proof as Manifest).manifest.addresses
  return isAnyVerifiedBefore(fid, addresses, change, world)
}

interface Manifest {
  readonly manifest: { readonly addresses: readonly string[] }
}

/**
 * Whether one of the addresses was last verified before the change, or since by a key of before it. One whose
 * verification nobody has was not.
 */
export async function isAnyVerifiedBefore(
  fid: number,
  addresses: readonly string[],
  change: Change,
  world: CustodyWorld,
): Promise<boolean> {
  for (const address of new Set(addresses.map((one) => one.toLowerCase()))) {
    const last = await lastVerification(fid, address, change, world)
    if (!last) continue
    if (last.at <= change.at) return true
    const message = readHubMessage(last.message)
    // Asked now: what is stored of a key may be from before the change was known, and the key from after it.
    if (message && (await askKeyOf(fid, message, world))?.beforeCustody) return true
  }
  return false
}

async function lastVerification(fid: number, address: string, change: Change, world: CustodyWorld) {
  const { made } = await storedVerification(world.database, fid, address)
  const stored = made && { at: new Date(made.at), message: made.message }
  if (stored?.message && stored.at > change.at) return stored
  // The hub may have a later one that is not stored yet: claims are accepted by what it says.
  await world.believe()
  const told = (await world.social.verifications(fid)).find((one) => one.address === address)
  return told ? { at: told.verifiedAt, message: told.message } : stored
}

/** Where the key that signed a message of an account stands; undefined: there is no node to ask. */
export async function askKeyOf(
  fid: number,
  { signer, hash, data }: SignedMessage,
  { database, registries }: Pick<CustodyWorld, 'database' | 'registries'>,
): Promise<KeyStanding | undefined> {
  if (!registries.canAnswer) return undefined
  const facts = await keyFactsOf(database, { fid, key: signer, hash })
  const signed = { at: networkTime(data.timestamp), seenAt: facts.messageSeenAt }
  return askKeyStanding(registries, { fid, key: toHex(signer), signed }, facts)
}
