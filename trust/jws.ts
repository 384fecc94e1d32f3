import { createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto'

/** Bits of an RSA key: below the first a signature proves little, above the second a check costs too much. */
const rsaBits = { least: 2_048, most: 8_192 }

/** Algorithms whose signatures are checked; none of a shared secret. Source: RFC 7518, RFC 8037, RFC 8812. */
const algorithms: Readonly<Record<string, { fits(key: KeyObject): boolean; digest: string | null }>> = {
  ES256: { fits: (key) => key.asymmetricKeyDetails?.namedCurve === 'prime256v1', digest: 'sha256' },
  ES256K: { fits: (key) => key.asymmetricKeyDetails?.namedCurve === 'secp256k1', digest: 'sha256' },
  EdDSA: { fits: (key) => key.asymmetricKeyType === 'ed25519', digest: null },
  RS256: {
    fits: (key) => {
      const bits = key.asymmetricKeyType === 'rsa' ? (key.asymmetricKeyDetails?.modulusLength ?? 0) : 0
      return bits >= rsaBits.least && bits <= rsaBits.most
    },
    digest: 'sha256',
  },
}

export const isCheckedAlgorithm = (alg: string) => Object.hasOwn(algorithms, alg)

/** A key for an algorithm; undefined: malformed, or of another kind. */
export function keyFor(alg: string, jwk: JsonWebKey): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    return algorithms[alg]?.fits(key) ? key : undefined
  } catch {
    return undefined
  }
}

/** Whether a key made a signature of these bytes, in the form of RFC 7515. */
export function isSignedBy(key: KeyObject, alg: string, signed: Buffer, signature: Buffer): boolean {
  return verify(algorithms[alg]?.digest ?? null, signed, { key, dsaEncoding: 'ieee-p1363' }, signature)
}
