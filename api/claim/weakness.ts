import { type Hex, toHex } from 'viem'
import { lastCustodyChange } from '../../db/queries/chain/custody.ts'
import type { Verification } from '../../social/social-index.ts'
import { readHubMessage, type SignedMessage } from '../../trust/hub-message.ts'
import { type ChainAnswers, judgeVerification } from '../../trust/verdict.ts'
import { claimDigest } from '../../trust/verification-claim.ts'
import type { ClaimWorld } from './verifier.ts'

/**
 * Why a verification cannot carry a claim; undefined: it can. Its message, the address's own signature and the place of
 * the message's key must hold, the last as far as the registry can be asked; and the FID must not have changed hands
 * since: verifications and app keys of whoever had it before stay on the network.
 *
 * Throws when a chain that has to be asked does not answer.
 */
export async function weaknessOf(
  verification: Verification,
  fid: number,
  world: ClaimWorld,
): Promise<string | undefined> {
  const transfer = await lastCustodyChange(world.database, fid)
  if (transfer && verification.verifiedAt <= transfer.at) {
    return 'it was verified before the fid was last transferred; verify it again'
  }
  if (world.verificationProof === 'stated') return undefined
  const { address, contractChainId } = verification
  const message = readHubMessage(verification.message)
  const answers: ChainAnswers = {
    ...(message && world.registries.canAnswer
      ? { key: await world.registries.hadAppKey(fid, toHex(message.signer)) }
      : {}),
    ...(contractChainId === null ? {} : { wallet: await walletAnswer(address, message, world) }),
  }
  const now = new Date(world.now())
  const { verdict, key, claim } = await judgeVerification(message, { fid, address, now }, answers)
  if (verdict === 'proven' || (verdict === 'signed' && !world.registries.canAnswer)) return undefined
  if (claim === 'failed') return 'its wallet does not confirm the verification'
  if (key === 'failed') return 'the key that signed its verification was never registered for the fid'
  return 'the signatures of its verification cannot be checked; verify it again'
}

async function walletAnswer(address: string, message: SignedMessage | undefined, { wallets }: ClaimWorld) {
  const body = message?.data.body
  if (!message || body?.kind !== 'verification_add') return 'unknown'
  const digest = claimDigest(message.data.fid, body, message.data.network)
  const wallet = { address: address as Hex, chainId: body.chainId }
  return (await wallets.signedByContract(wallet, digest, toHex(body.claimSignature))) ? 'held' : 'failed'
}
