import { type Hex, recoverAddress } from 'viem'

/** Half the order of secp256k1: a signature with a higher s has an equivalent one with a lower s. Source: EIP-2. */
const highestS = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
/** Values of v (the recovery id) that wallets write: 0 or 1, or 27 more. */
const parities = new Set([0, 1, 27, 28])

/**
 * Whether the key of an address signed a digest. No chain is asked: code that the account delegates to (EIP-7702) has
 * no say. `address` is lowercase; a signature must have 65 bytes and a low s.
 */
export async function signedByKey(address: Hex, hash: Hex, signature: Hex): Promise<boolean> {
  if (!/^0x[0-9a-fA-F]{130}$/.test(signature)) return false
  const s = BigInt(`0x${signature.slice(66, 130)}`)
  if (s > highestS || !parities.has(Number.parseInt(signature.slice(130), 16))) return false
  try {
    return (await recoverAddress({ hash, signature })).toLowerCase() === address
  } catch {
    return false // r is no point of the curve
  }
}

/**
 * The 65-byte form of a signature of 64 bytes, in which the highest bit of s stands for v; any other as it is.
 *
 * Source: EIP-2098.
 */
export function expandSignature(signature: Hex): Hex {
  if (!/^0x[0-9a-fA-F]{128}$/.test(signature)) return signature
  const parityAndS = BigInt(`0x${signature.slice(66)}`)
  const s = BigInt.asUintN(255, parityAndS).toString(16).padStart(64, '0')
  return `${signature.slice(0, 66) as Hex}${s}${parityAndS >> 255n ? '1c' : '1b'}`
}
