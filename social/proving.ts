import { type Address, toHex } from 'viem'
import type { SignedMessage } from '../trust/hub-message.ts'
import { networkEpoch } from '../trust/message-data.ts'
import { type Checked, judgeRemoval, judgeVerification } from '../trust/verdict.ts'
import { claimDigest, walletChains } from '../trust/verification-claim.ts'
import type { Registries } from './key-registry.ts'
import { askKeyStanding, type KeyFacts, type KeyStanding } from './key-standing.ts'
import type { WalletAnswer, Wallets } from './wallets.ts'

/** Whom the chains' part of a proof is asked of. */
export interface ProofWorld {
  readonly registries: Registries
  readonly wallets: Wallets
}

/** A message about an address of a FID, and what is known of its key. */
interface Provable {
  readonly message: SignedMessage
  readonly fid: number
  /** Lowercase. */
  readonly address: Address
  readonly key: KeyFacts
  readonly now: Date
}

interface Proved extends Checked {
  /** Undefined: no node of the registries' chain is named. */
  readonly keyStanding: KeyStanding | undefined
  /** Undefined: it is no contract wallet, or no node of its chain is named. */
  readonly wallet: WalletAnswer | undefined
}

/**
 * What a message about an address is worth, the chains asked: where its key stands, and what its contract wallet says on
 * the chain that the verification names. What there is nobody to ask about stays unknown.
 *
 * Throws when a chain that has to be asked does not answer.
 */
export async function proveMessage(provable: Provable, { registries, wallets }: ProofWorld): Promise<Proved> {
  const { message, fid, address, key, now } = provable
  const asked = { fid, address, now }
  const { body } = message.data
  const at = new Date((networkEpoch + message.data.timestamp) * 1_000)
  const signer = { fid, key: toHex(message.signer), signed: { at, seenAt: key.messageSeenAt ?? now } }
  const keyStanding = registries.canAnswer ? await askKeyStanding(registries, signer, key) : undefined
  const ofKey = keyStanding && { key: keyStanding.outcome }
  if (body.kind === 'verification_remove') {
    return { ...judgeRemoval(message, asked, { ...ofKey }), keyStanding, wallet: undefined }
  }
  const wallet = await askWallet(message, address, wallets)
  const ofWallet = wallet && { wallet: wallet.signed ? ('held' as const) : ('failed' as const) }
  return { ...(await judgeVerification(message, asked, { ...ofKey, ...ofWallet })), keyStanding, wallet }
}

async function askWallet({ data }: SignedMessage, address: Address, wallets: Wallets) {
  const { body } = data
  const isWallet = body.kind === 'verification_add' && body.verificationType === 1
  if (!isWallet || !walletChains.includes(body.chainId) || !wallets.canAnswer(body.chainId)) return undefined
  const digest = claimDigest(data.fid, body, data.network)
  return wallets.ask({ address, chainId: body.chainId }, digest, toHex(body.claimSignature))
}
