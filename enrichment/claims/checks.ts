import { type Hex, toHex } from 'viem'
import type { Queryable } from '../../db/pool.ts'
import type { StandingClaim } from '../../db/queries/claims/claim-checks.ts'
import { disputesOf, storedVerification } from '../../db/queries/claims/claim-checks.ts'
import type { ProofWorld } from '../../social/proof-world.ts'
import type { SocialIndex } from '../../social/social-index.ts'
import { readHubMessage } from '../../trust/hub-message.ts'
import { claimDigest } from '../../trust/verification-claim.ts'
import { type Finding, gracePeriods } from './ending.ts'
import { askKeyOf, isOfFormerOwner } from './former-owner.ts'
import type { Manifests } from './manifest.ts'

export interface CheckWorld extends ProofWorld {
  readonly database: Queryable
  readonly social: Pick<SocialIndex, 'verifications'>
  /** Host name of the followed hub. */
  readonly hub: () => string
  readonly manifests: Pick<Manifests, 'check'>
  /** Throws when the followed hub is not believed. */
  believe(): Promise<void>
}

const holds: Finding = { kind: 'holds' }

/**
 * Checks what a claim rests on, cheap evidence first: whether the account changed hands, then the evidence of its
 * method. When a host or node does not answer, the finding is `unknown`.
 */
export async function checkClaim(fid: number, claim: StandingClaim, world: CheckWorld): Promise<Finding> {
  const { transfer, custody } = claim
  if (transfer) return changedHands(transfer)
  const check = checks[claim.method]
  if (!check) return holds
  try {
    const change = custody && { at: new Date(custody.at), block: custody.block_number }
    if (change && (await isOfFormerOwner(fid, claim, change, world))) return changedHands(custody)
    return await check(fid, claim, world)
  } catch (error) {
    return { kind: 'unknown', error }
  }
}

function changedHands(change: NonNullable<StandingClaim['transfer']>): Finding {
  const { kind, final, chain, block_number, log_index, tx_hash } = change
  const reason = kind === 'r' ? 'fid_recovered' : 'fid_transferred'
  return { kind: final ? 'refuted' : 'doubted', reason, detail: { chain, block_number, log_index, tx_hash } }
}

type Check = (fid: number, claim: StandingClaim, world: CheckWorld) => Promise<Finding>

const checks: Readonly<Record<string, Check>> = {
  async eip191(fid, { signer: address, claimed_at: since }, world) {
    const stored = await storedVerification(world.database, fid, address)
    const { removal, live } = stored
    if (removal !== null && !live && (await isSignedFor(fid, removal.message, world))) {
      return { kind: 'refuted', reason: 'verification_removed', detail: { address, removal: removal.hash } }
    }
    if (!stored.live && !(await isVerified(fid, address, world))) {
      const detail = { address, pruned: stored.pruned }
      const reason = 'verification_removed'
      return stored.pruned
        ? { kind: 'doubted', reason, detail }
        : { kind: 'doubted', reason, detail, grace: gracePeriods.missingVerification }
    }
    if (stored.made?.undone_key && world.registries.canAnswer) return undone(fid, stored.made.undone_key, since, world)
    const disputed = await disputeAbout(fid, [address], world)
    if (disputed || stored.wallet_message === null) return disputed ?? holds
    return askWallet(address as Hex, stored.wallet_message, world)
  },

  async jfs(fid, { signer, claimed_at: since }, { registries }) {
    if (!registries.canAnswer) return holds
    const key = signer as Hex
    if (await registries.isActiveAppKey(fid, key)) return holds
    const final = await registries.removalOf(fid, key, 'finalized')
    const removal = final ?? (await registries.removalOf(fid, key, 'latest'))
    if (!removal) return undone(fid, key, since, { registries })
    const place = removal.place
    const detail = { key, chain: registries.chain.name, log: place && { ...place } }
    return { kind: final ? 'refuted' : 'doubted', reason: 'key_removed', detail }
  },

  async 'well-known'(fid, claim, world) {
    const found = await world.manifests.check(fid, claim)
    if (found.kind !== 'holds') return found
    const { manifest } = claim.proof as { manifest: { addresses: readonly string[] } }
    return (await disputeAbout(fid, manifest.addresses, world)) ?? holds
  },
}

/** A key that the registry does not know any more: its Add was undone, for good once the final block is after the claim. */
async function undone(
  fid: number,
  key: Hex,
  since: Date,
  { registries }: Pick<ProofWorld, 'registries'>,
): Promise<Finding> {
  const detail = { key, chain: registries.chain.name, log: null }
  const isFinal = await registries.isFinallyUnknown(fid, key, since)
  return { kind: isFinal ? 'refuted' : 'doubted', reason: 'key_removed', detail }
}

/**
 * Whether a message that removes a verification is signed by a key that the account has, or had then. Any key can sign
 * such a message; shown by a hub without that, it proves no more than a verification left out.
 */
async function isSignedFor(fid: number, hubMessage: unknown, world: CheckWorld): Promise<boolean> {
  const message = readHubMessage(hubMessage)
  const key = message && (await askKeyOf(fid, message, world))
  return key === undefined || key.outcome === 'held' // without a node nothing contradicts it
}

/** A dispute between hubs about a verification of these addresses, as a finding; undefined: there is none. */
async function disputeAbout(
  fid: number,
  addresses: readonly string[],
  { database, hub: followed }: CheckWorld,
): Promise<Finding | undefined> {
  const lowercase = addresses.map((address) => address.toLowerCase())
  const [first] = await disputesOf(database, fid, lowercase)
  if (!first) return undefined
  const { address, message } = first
  const others = first.hubs.map(({ hub, has }) => ({ hub, has }))
  const hub = followed()
  const hubs = others.some((other) => other.hub === hub) ? others : [{ hub, has: true }, ...others]
  return { kind: 'doubted', reason: 'disputed', detail: { address, message, hubs } }
}

/** Whether the hub has a verification that is not stored: the account may never have been read. */
async function isVerified(fid: number, address: string, { social, believe }: CheckWorld): Promise<boolean> {
  await believe()
  return (await social.verifications(fid)).some((one) => one.address === address)
}

/** Asks a contract wallet, on the chain that its verification names, whether it still confirms the signature. */
async function askWallet(address: Hex, hubMessage: unknown, { wallets }: ProofWorld): Promise<Finding> {
  const message = readHubMessage(hubMessage)
  const body = message?.data.body
  if (!message || body?.kind !== 'verification_add' || !wallets.canAnswer(body.chainId)) return holds
  const { chainId } = body
  const digest = claimDigest(message.data.fid, body, message.data.network)
  const answer = await wallets.ask({ address, chainId }, digest, toHex(body.claimSignature))
  if (answer.signed) return holds
  const { block, blockHash, codeSha256 } = answer
  const detail = { address, chain_id: chainId, block_number: block, block_hash: blockHash, code_sha256: codeSha256 }
  return { kind: 'doubted', reason: 'wallet_denies', detail, grace: gracePeriods.walletDenies }
}
