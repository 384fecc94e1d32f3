import type { JsonWebKey, KeyObject } from 'node:crypto'
import { canonicalJson, type Json } from './canonical-json.ts'
import { isCheckedAlgorithm, isSignedBy, keyFor } from './jws.ts'

/**
 * What the signatures of an agent card are worth. `valid`: one holds, by a key that the card's own origin publishes.
 * `invalid`: by such keys, but none holds, so the card was changed. `untrusted`: by keys of another origin, which
 * anybody could have made, or in a form that is not checked. `none`: it is not signed.
 */
export type CardSignature = 'valid' | 'invalid' | 'untrusted' | 'none'

/** Fetches the key set (JWKS) at a URL; undefined: no answer, or no key set. */
type KeysAt = (url: URL) => Promise<readonly JsonWebKey[] | undefined>

/** Most signatures of a card that are checked. */
const mostSignatures = 4
/** Most characters of a signature's protected header; real ones have some two hundred. */
const longestHeader = 4_096

interface Signed {
  readonly header: { readonly alg: string; readonly kid: string | undefined; readonly jku: string | undefined }
  readonly protected: string
  readonly signature: Buffer
}

/**
 * Checks the signatures of a card that was read at `url`. Keys are fetched from the card's own origin alone: the signer
 * chooses the key's URL (`jku`), so a key of another origin proves nothing.
 *
 * Source: A2A specification 1.0, 8.4; RFC 7515; RFC 8785. Signers differ in what they leave out of the payload: both
 * the card as it was received and the card without empty values are tried.
 */
export async function checkCard(
  card: Readonly<Record<string, Json>>,
  url: URL,
  keysAt: KeysAt,
): Promise<CardSignature> {
  const { signatures, ...rest } = card
  if (!Array.isArray(signatures) || signatures.length === 0) return 'none'
  const payloads = [rest, withoutEmpty(rest)].map((payload) => base64url(canonicalJson(payload as Json)))
  let hasFailed = false
  for (const given of signatures.slice(0, mostSignatures)) {
    const signed = readSignature(given)
    const place =
      signed?.header.jku !== undefined && URL.canParse(signed.header.jku) ? new URL(signed.header.jku) : null
    if (!signed || place?.origin !== url.origin) continue
    const keys = await keysAt(place)
    const key = keyOf(keys ?? [], signed.header)
    if (!key) continue
    const holds = payloads.some((payload) =>
      isSignedBy(key, signed.header.alg, Buffer.from(`${signed.protected}.${payload}`, 'ascii'), signed.signature),
    )
    if (holds) return 'valid'
    hasFailed = true
  }
  return hasFailed ? 'invalid' : 'untrusted'
}

/** Parses a JWS signature; undefined: malformed, or an algorithm that is not checked, as `none` and HMACs are. */
function readSignature(given: Json): Signed | undefined {
  const { protected: head, signature } = (given ?? {}) as Record<string, unknown>
  if (typeof head !== 'string' || typeof signature !== 'string' || head.length > longestHeader) return undefined
  try {
    const { alg, kid, jku, crit } = JSON.parse(Buffer.from(head, 'base64url').toString())
    if (!isCheckedAlgorithm(alg) || crit !== undefined) return undefined
    const header = { alg, kid: textOf(kid), jku: textOf(jku) }
    return { header, protected: head, signature: Buffer.from(signature, 'base64url') }
  } catch {
    return undefined
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Key with the header's `kid`, or without one the only key that fits its `alg`; undefined: none, or several. */
function keyOf(keys: readonly JsonWebKey[], { alg, kid }: Signed['header']): KeyObject | undefined {
  const named = kid === undefined ? keys : keys.filter((key) => key.kid === kid)
  const usable = named.flatMap((jwk) => keyFor(alg, jwk) ?? [])
  return usable.length === 1 || kid !== undefined ? usable[0] : undefined
}

/** A value without members that are null, empty, zero or false, as signers leave out protobuf defaults. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty)
  if (value === null || typeof value !== 'object') return value
  const members = Object.entries(value).map(([name, member]) => [name, withoutEmpty(member)] as const)
  return Object.fromEntries(members.filter(([, member]) => !isEmpty(member)))
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === '' || value === 0 || value === false) return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url')
}
