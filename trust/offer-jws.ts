import type { JsonWebKey } from 'node:crypto'
import { isCheckedAlgorithm, isSignedBy, keyFor } from './jws.ts'

/** Key of a DID document, by its DID URL; undefined: it is not there, or could not be asked for. */
export type KeyOf = (kid: string) => Promise<JsonWebKey | undefined>

/** Most characters of a signed text; offers have some six hundred. */
const longest = 16_384

/** A DID URL has no other characters: https://www.w3.org/TR/did-1.0/#did-url-syntax. */
const didUrl = /^did:[\x21-\x7e]{1,2000}$/

/** What a key signed, and its DID URL. */
interface SignedText {
  readonly payload: unknown
  readonly kid: string
}

/**
 * The payload of a JWS in compact form, if the key that its `kid` names signed it; undefined: it did not, or the key is not
 * where `kid` says. A key in the header proves nothing, and must be the same.
 *
 * Source: x402 extension offer-receipt 3.3 and 4.5; RFC 7515.
 */
export async function signedPayload(text: string, keyOf: KeyOf): Promise<SignedText | undefined> {
  const [head, body, signature, ...more] = text.length > longest ? [] : text.split('.')
  if (!head || !body || !signature || more.length > 0) return undefined
  const { alg, kid, jwk, crit } = objectOf(head)
  if (typeof alg !== 'string' || !isCheckedAlgorithm(alg) || crit !== undefined) return undefined
  if (typeof kid !== 'string' || !didUrl.test(kid)) return undefined
  const known = await keyOf(kid)
  const key = known && keyFor(alg, known)
  if (!key) return undefined
  if (jwk !== undefined && !keyFor(alg, jwk as JsonWebKey)?.equals(key)) return undefined
  const isRight = isSignedBy(key, alg, Buffer.from(`${head}.${body}`, 'ascii'), Buffer.from(signature, 'base64url'))
  return isRight ? { payload: objectOf(body), kid } : undefined
}

function objectOf(part: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
