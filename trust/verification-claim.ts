import { bytesToHex, type Hex, hashTypedData, recoverAddress } from 'viem'
import type { Outcome } from './envelope.ts'
import type { VerificationAdd } from './message-data.ts'

/**
 * The EIP-712 digest that a verified address signed. The domain of a key has no chain id at all: a chain id of zero in
 * it gives another digest.
 *
 * Source: farcasterxyz/hub-monorepo, `packages/core/src/crypto/eip712.ts`.
 */
export function claimDigest(
  fid: number,
  claim: Pick<VerificationAdd, 'address' | 'blockHash' | 'verificationType' | 'chainId'>,
  network: number,
): Hex {
  const common = { types: { VerificationClaim: claimFields }, primaryType: 'VerificationClaim' } as const
  const message = {
    fid: BigInt(fid),
    address: bytesToHex(claim.address),
    blockHash: bytesToHex(claim.blockHash),
    network,
  }
  return claim.verificationType === 1
    ? hashTypedData({ ...common, message, domain: { ...domain, chainId: claim.chainId } })
    : hashTypedData({ ...common, message, domain })
}

/**
 * Whether an address signed by its own key that it belongs to a FID. `unknown` for contract wallets, which have to be
 * asked on their chain, and for a key's claim that names a chain: the network's specification has none there.
 */
export async function checkKeyClaim(fid: number, claim: VerificationAdd, network: number): Promise<Outcome> {
  if (claim.verificationType !== 0 || claim.chainId !== 0) return 'unknown'
  if (claim.address.length !== 20 || claim.blockHash.length !== 32 || claim.claimSignature.length !== 65)
    return 'failed'
  try {
    const signer = await recoverAddress({
      hash: claimDigest(fid, claim, network),
      signature: bytesToHex(claim.claimSignature),
    })
    return signer.toLowerCase() === bytesToHex(claim.address) ? 'held' : 'failed'
  } catch {
    return 'failed' // 65 bytes that are no signature
  }
}

const domain = {
  name: 'Farcaster Verify Ethereum Address',
  version: '2.0.0',
  salt: '0xf2d857f4a3edcb9b78b4d503bfe733db1e3f6cdc2b7971ee739626c97e86a558',
} as const

const claimFields = [
  { name: 'fid', type: 'uint256' },
  { name: 'address', type: 'address' },
  { name: 'blockHash', type: 'bytes32' },
  { name: 'network', type: 'uint8' },
] as const

/** Ids of chains on which nodes ask contract wallets. Source: snapchain, `src/core/validations/verification.rs`. */
export const walletChains: readonly number[] = [1, 10]

/** Last 32 bytes of a signature by a contract that is not deployed yet, hex. Source: ERC-6492. */
const undeployedMark = '6492'.repeat(16)

/** Number of the ERC by which a contract wallet is asked about a signature, hex. */
export const walletStandardOf = (signature: string) => (signature.endsWith(undeployedMark) ? '6492' : '1271')
