import { type Address, toHex } from 'viem'
import { readHubMessage } from '../../trust/hub-message.ts'
import { judgeProfileUrl } from '../../trust/verdict.ts'
import { walletChains } from '../../trust/verification-claim.ts'
import { askKeyStanding, type KeyFacts, type KeyStanding } from '../key-standing.ts'
import { proveMessage } from '../message-proof.ts'
import { isOfKnownType, networkTime } from '../messages.ts'
import type { ProofWorld } from '../proof-world.ts'
import type { Statement, Verification } from '../social-index.ts'
import { type Contradiction, messageHashOf, type Subject } from '../witness.ts'

/**
 * Whose word a message needs to support a claim. `signed`: its own signatures, and where the registry can be asked that
 * of the account's key, must hold. `stated`: the hub's word is enough. It says nothing of custody or of other hubs.
 */
export type MessageProof = 'signed' | 'stated'

/** What a message that supports a claim is judged against. */
export interface GroundsWorld extends ProofWorld {
  readonly facts: {
    /** The last time a FID changed hands; undefined: never. */
    lastCustodyChange(fid: number): Promise<{ readonly at: Date; readonly block: number } | undefined>
    /** Whether a signed message is kept that takes back what a FID verified then. */
    isTakenBack(fid: number, address: string, verifiedAt: Date): Promise<boolean>
    keyFactsOf(of: { fid: number; key: Uint8Array; hash: Uint8Array }): Promise<KeyFacts>
  }
  readonly verificationProof: MessageProof
  /** The hub that contradicts the followed one about a message, named by its hash; undefined: none does. */
  contradiction(of: { fid: number; about: Subject; message: string }): Promise<Contradiction | undefined>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Why a message supports no claim. */
export interface Weakness {
  readonly why: string
  /** Present: nothing else speaks against the message but that hubs disagree about it. */
  readonly contradiction?: Contradiction
}

/** Judge of what an account's messages support; it judges each address once. */
export interface GroundsJudge {
  /** Undefined: the address can support a claim. Throws when a chain that has to be asked does not answer. */
  weaknessOf(address: string): Promise<Weakness | undefined>
  /** The verifications that it judges. */
  readonly verifications: readonly Verification[]
}

/**
 * The one rule for acceptance and for the checks of standing claims: a verification supports a claim only by the verdict
 * that the settings ask for, when it was made since the account last changed hands, by a key from since then, and no
 * signed message and no other hub speaks against it.
 */
export function createGroundsJudge(
  fid: number,
  verifications: readonly Verification[],
  world: GroundsWorld,
): GroundsJudge {
  const judged = new Map<string, Promise<Weakness | undefined>>()
  const judge = async (address: string) => {
    const verification = verifications.find((one) => one.address === address)
    return verification ? weaknessOfVerification(verification, fid, world) : { why: 'it is not verified' }
  }
  return {
    verifications,
    weaknessOf(address) {
      const known = judged.get(address) ?? judge(address)
      judged.set(address, known)
      return known
    },
  }
}

async function weaknessOfVerification(
  { address, verifiedAt, contractChainId, message: given }: Verification,
  fid: number,
  world: GroundsWorld,
): Promise<Weakness | undefined> {
  const { facts, registries, wallets } = world
  if (!isOfKnownType(given)) return { why: 'its verification is of a type that is not known here' }
  const early = await beforeCustody('verified', verifiedAt, fid, world)
  if (early) return early
  if (await facts.isTakenBack(fid, address, verifiedAt)) {
    return { why: 'a signed message has taken its verification back since; verify it again' }
  }
  const message = readHubMessage(given)
  let keyStanding: KeyStanding | undefined
  if (world.verificationProof === 'stated') keyStanding = await keyStandingOf(given, fid, world)
  else {
    if (!message) return { why: unchecked }
    if (contractChainId !== null && walletChains.includes(contractChainId) && !wallets.canAnswer(contractChainId)) {
      throw new Error(`chain ${contractChainId} has no node to ask about the contract wallet ${address}`)
    }
    const key = await facts.keyFactsOf({ fid, key: message.signer, hash: message.hash })
    const provable = { message, fid, address: address as Address, key, now: new Date(world.now()) }
    const proved = await proveMessage(provable, { registries, wallets })
    if (!isEnough(proved.verdict, world)) {
      if (proved.claim === 'failed') return { why: 'its wallet does not confirm the verification' }
      if (proved.key === 'failed')
        return { why: 'the key that signed its verification was never registered for the fid, or not any more' }
      return { why: unchecked }
    }
    keyStanding = proved.keyStanding
  }
  if (keyStanding?.beforeCustody) return ofOldKey('verified')
  return disputed('verification', { fid, about: 'verifications', message: messageHashOf(given) }, world)
}

const unchecked = 'the signatures of its verification cannot be checked; verify it again'

/** Why the URL that an account's profile states supports no claim, judged as `weaknessOf` judges an address. */
export async function weaknessOfProfileUrl(
  { text, at, message: given }: Statement,
  fid: number,
  world: GroundsWorld,
): Promise<Weakness | undefined> {
  const early = await beforeCustody('set', at, fid, world)
  if (early) return early
  const keyStanding = await keyStandingOf(given, fid, world)
  if (world.verificationProof !== 'stated') {
    const asked = { fid, url: text ?? '', now: new Date(world.now()) }
    const key = keyStanding && { key: keyStanding.outcome }
    const { verdict } = judgeProfileUrl(readHubMessage(given), asked, { ...key })
    if (!isEnough(verdict, world)) return { why: 'the signature of the message that sets it cannot be checked' }
  }
  if (keyStanding?.beforeCustody) return ofOldKey('set')
  return disputed('message', { fid, about: 'profile', message: messageHashOf(given) }, world)
}

/** Whether a verdict is that which settings and nodes allow to ask for. */
function isEnough(verdict: string, { registries }: GroundsWorld): boolean {
  return verdict === 'proven' || (verdict === 'signed' && !registries.canAnswer)
}

async function beforeCustody(made: string, at: Date, fid: number, { facts }: GroundsWorld) {
  const change = await facts.lastCustodyChange(fid)
  if (!change || at > change.at) return undefined
  return { why: `it was ${made} before the fid was last transferred; ${again[made]}` }
}

const again: Readonly<Record<string, string>> = { verified: 'verify it again', set: 'set it again' }

const ofOldKey = (made: string): Weakness => ({
  why: `it was ${made} by an app key from before the fid was last transferred; ${again[made]} with a new one`,
})

/** Where the key of a message stands; undefined: it cannot be asked, or it makes no difference. */
async function keyStandingOf(given: unknown, fid: number, world: GroundsWorld): Promise<KeyStanding | undefined> {
  const { facts, registries } = world
  const message = readHubMessage(given)
  if (!message || !registries.canAnswer) return undefined
  const known = await facts.keyFactsOf({ fid, key: message.signer, hash: message.hash })
  if (known.transferBlock === null && world.verificationProof === 'stated') return undefined // the key does not matter
  const signed = { at: networkTime(message.data.timestamp), seenAt: known.messageSeenAt }
  return askKeyStanding(registries, { fid, key: toHex(message.signer), signed }, known)
}

async function disputed(
  what: string,
  of: Parameters<GroundsWorld['contradiction']>[0],
  { contradiction }: GroundsWorld,
): Promise<Weakness | undefined> {
  const found = await contradiction(of)
  if (!found) return undefined
  return {
    why: `${found.hub}, another hub, does not know its ${what}; try again in a few minutes`,
    contradiction: found,
  }
}
