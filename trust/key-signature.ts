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
 * The one form of a key's signature that wallets write in several: 65 bytes, with 27 or 28 as v. In one of 64 bytes the
 * highest bit of s stands for v. Any other is left as it is; so is one with an s of zero, which no key makes: contract
 * wallets say with it that they approved the digest.
 *
 * Source: EIP-2098; Safe, "Signatures", pre-validated ones.
 */
export function canonicalSignature(signature: Hex): Hex {
  if (/^0x[0-9a-fA-F]{128}$/.test(signature)) {
    const parityAndS = BigInt(`0x${signature.slice(66)}`)
    const s = BigInt.asUintN(255, parityAndS).toString(16).padStart(64, '0')
    return `${signature.slice(0, 66) as Hex}${s}${parityAndS >> 255n ? '1c' : '1b'}`
  }
  const isOfParity = /^0x[0-9a-fA-F]{128}0[01]$/.test(signature) && !/^0{64}/.test(signature.slice(66))
  return isOfParity ? `${signature.slice(0, 130) as Hex}${signature.endsWith('1') ? '1c' : '1b'}` : signature
}

/** A signature by its bytes in base64 of either alphabet; older tools encoded the hex text. Both are in wide use. */
export function encodedSignature(encoded: string): Hex | undefined {
  const bytes = Buffer.from(encoded, 'base64url') // takes both alphabets, padded or not
  if (bytes.length === 0) return undefined
  const hex = bytes.toString('latin1')
  return canonicalSignature(/^0x([0-9a-fA-F]{2})+$/.test(hex) ? (hex as Hex) : `0x${bytes.toString('hex')}`)
}
