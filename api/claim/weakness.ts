import { type Hex, toHex } from 'viem'
import { lastCustodyChange } from '../../db/queries/chain/custody.ts'
import { isTakenBack } from '../../db/queries/join/verified-addresses.ts'
import { keyFactsOf } from '../../db/queries/sources/signer-keys.ts'
import { proveMessage } from '../../social/message-proof.ts'
import type { Verification } from '../../social/social-index.ts'
import { readHubMessage } from '../../trust/hub-message.ts'
import { walletChains } from '../../trust/wallet-chains.ts'
import { contradictionOf } from './other-hubs.ts'
import type { ClaimWorld } from './proof-method.ts'

/**
 * Why a verification cannot carry a claim; undefined: it can. Its message, the address's own signature and, where the
 * registry can be asked, the message's key must hold. The FID must not have changed hands since: verifications and app
 * keys of its previous owner stay on the network.
 *
 * Throws when a chain that has to be asked does not answer.
 */
export async function weaknessOf(
  verification: Verification,
  fid: number,
  world: ClaimWorld,
): Promise<string | undefined> {
  const { database, registries, wallets } = world
  const { address, contractChainId, verifiedAt } = verification
  const transfer = await lastCustodyChange(database, fid)
  if (transfer && verifiedAt <= transfer.at) {
    return 'it was verified before the fid was last transferred; verify it again'
  }
  if (await isTakenBack(database, fid, address, verifiedAt)) {
    return 'a signed message has taken its verification back since; verify it again'
  }
  if (world.verificationProof === 'stated') return undefined
  const message = readHubMessage(verification.message)
  if (!message) return unchecked
  if (contractChainId !== null && walletChains.includes(contractChainId) && !wallets.canAnswer(contractChainId)) {
    throw new Error(`chain ${contractChainId} has no node to ask about the contract wallet ${address}`)
  }
  const facts = await keyFactsOf(database, { fid, key: message.signer, hash: message.hash })
  const provable = { message, fid, address: address as Hex, key: facts, now: new Date(world.now()) }
  const { verdict, key, claim, keyStanding } = await proveMessage(provable, { registries, wallets })
  if (verdict !== 'proven' && !(verdict === 'signed' && !registries.canAnswer)) {
    if (claim === 'failed') return 'its wallet does not confirm the verification'
    if (key === 'failed')
      return 'the key that signed its verification was never registered for the fid, or not any more'
    return unchecked
  }
  if (keyStanding?.beforeCustody) {
    return 'it was verified by an app key from before the fid was last transferred; verify it again with a new one'
  }
  return contradictionOf(toHex(message.hash), fid, world)
}

const unchecked = 'the signatures of its verification cannot be checked; verify it again'
