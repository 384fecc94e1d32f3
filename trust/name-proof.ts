import { type Address, type Hex, recoverTypedDataAddress } from 'viem'

/** A name server's signed statement that a name belongs to an address. It does not say whose FID that is. */
interface NameProof {
  readonly name: string
  /** Unix seconds. */
  readonly timestamp: number
  readonly owner: Address
  readonly signature: Hex
}

/** Address that signs names. Source: snapchain, `src/core/validations/verification.rs`; fnames.farcaster.xyz. */
const nameSigner = '0xbc5274efc266311015793d89e9b591fa46294741'

/** Whether the network's name server signed that `owner` has the name since `timestamp`. */
export async function isNameProof({ name, timestamp, owner, signature }: NameProof): Promise<boolean> {
  try {
    const signer = await recoverTypedDataAddress({
      domain,
      types,
      primaryType: 'UserNameProof',
      message: { name, timestamp: BigInt(timestamp), owner },
      signature,
    })
    return signer.toLowerCase() === nameSigner
  } catch {
    return false // bytes that are no signature
  }
}

const domain = {
  name: 'Farcaster name verification',
  version: '1',
  chainId: 1,
  verifyingContract: '0xe3be01d99baa8db9905b33a3ca391238234b79d1',
} as const
const types = {
  UserNameProof: [
    { name: 'name', type: 'string' },
    { name: 'timestamp', type: 'uint256' },
    { name: 'owner', type: 'address' },
  ],
} as const
