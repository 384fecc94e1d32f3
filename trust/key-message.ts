import { type Address, bytesToHex, recoverTypedDataAddress } from 'viem'
import type { KeyAdd, KeyRemove } from './message-data.ts'

/**
 * Address, lowercase, that signed a KeyAdd of a FID; undefined: no valid signature, or no Ed25519 key. That it was the
 * FID's custody address at the time is not checked: only the chain can say.
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
 * Address, lowercase, that signed a KeyRemove of a FID; undefined: no valid signature. That it is the FID's custody
 * address is not checked. Adding and removing share an EIP-712 domain: the type alone tells them apart.
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
/** EIP-712 domain of both messages; its chain id is nominal, no contract is involved. */
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
