import { type Address, toHex } from 'viem'
import type { SignedMessage } from '../trust/hub-message.ts'
import { networkEpoch } from '../trust/message-data.ts'
import { type Checked, judgeRemoval, judgeVerification } from '../trust/verdict.ts'
import { claimDigest, walletChains } from '../trust/verification-claim.ts'
import { askKeyStanding, type KeyFacts, type KeyStanding } from './key-standing.ts'
import type { ProofWorld } from './proof-world.ts'
import type { WalletAnswer, Wallets } from './wallets.ts'

/** A message to prove about an address of a FID, and what is known of the key that signed it. */
interface Provable {
  readonly message: SignedMessage
  readonly fid: number
  /** Lowercase. */
  readonly address: Address
  readonly key: KeyFacts
  readonly now: Date
}

interface Proved extends Checked {
  /** Undefined: no RPC URL of the registries' chain is configured. */
  readonly keyStanding: KeyStanding | undefined
  /** Undefined: the address is no contract wallet, or no RPC URL of its chain is configured. */
  readonly wallet: WalletAnswer | undefined
}

/**
 * Judges a message about an address and asks the chains: whether its key belongs to the FID, and whether the contract
 * wallet signed on the chain that the verification names. A check on a chain without an RPC URL stays open.
 *
 * Throws when a chain that has to be asked does not answer.
 */
export async function proveMessage(provable: Provable, { registries, wallets }: ProofWorld): Promise<Proved> {
  const { message, fid, address, key, now } = provable
  const asked = { fid, address, now }
  const { body } = message.data
  const at = new Date((networkEpoch + message.data.timestamp) * 1_000)
  const signer = { fid, key: toHex(message.signer), signed: { at, seenAt: key.messageSeenAt } }
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
