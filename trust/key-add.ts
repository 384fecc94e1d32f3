import { type Address, bytesToHex, recoverTypedDataAddress } from 'viem'
import type { KeyAdd, KeyRemove } from './message-data.ts'

/**
 * Who signed that a key is an app key of a FID, lowercase; undefined: nobody, or it is no such key. The signer has to be
 * the FID's custody of then, which only the chain can say.
 *
 * Source: snapchain, `src/core/validations/key.rs`.
 */
export async function keyAddSigner(fid: number, add: KeyAdd): Promise<Address | undefined> {
  if (add.keyType !== ed25519KeyType || add.key.length !== 32 || add.custodySignature.length !== 65) return undefined
  return recovered(() =>
    recoverTypedDataAddress({
      domain,
      types,
      primaryType: 'KeyAdd',
      message: {
        fid: BigInt(fid),
        key: bytesToHex(add.key),
        keyType: add.keyType,
        scopes: [...add.scopes],
        ttl: add.ttl,
        nonce: add.nonce,
        deadline: BigInt(add.deadline),
      },
      signature: bytesToHex(add.custodySignature),
    }),
  )
}

/**
 * Who signed that a key is an app key of a FID no longer, lowercase, when it is to be its custody address; undefined:
 * nobody. The same domain as for adding: the type alone tells them apart.
 */
export async function keyRemoveSigner(fid: number, remove: KeyRemove): Promise<Address | undefined> {
  if (remove.key.length !== 32 || remove.signature.length !== 65) return undefined
  return recovered(() =>
    recoverTypedDataAddress({
      domain,
      types,
      primaryType: 'KeyRemove',
      message: {
        fid: BigInt(fid),
        key: bytesToHex(remove.key),
        nonce: remove.nonce,
        deadline: BigInt(remove.deadline),
      },
      signature: bytesToHex(remove.signature),
    }),
  )
}

async function recovered(recover: () => Promise<Address>): Promise<Address | undefined> {
  try {
    return (await recover()).toLowerCase() as Address
  } catch {
    return undefined // 65 bytes that are no signature
  }
}

const ed25519KeyType = 1
/** The chain is one of the name alone: nothing is asked of it. */
const domain = { name: 'Farcaster KeyAdd', version: '1', chainId: 1 } as const
const types = {
  KeyAdd: [
    { name: 'fid', type: 'uint256' },
    { name: 'key', type: 'bytes' },
    { name: 'keyType', type: 'uint32' },
    { name: 'scopes', type: 'uint32[]' },
    { name: 'ttl', type: 'uint32' },
    { name: 'nonce', type: 'uint32' },
    { name: 'deadline', type: 'uint256' },
  ],
  KeyRemove: [
    { name: 'fid', type: 'uint256' },
    { name: 'key', type: 'bytes' },
    { name: 'nonce', type: 'uint32' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const
