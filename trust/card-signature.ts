import { createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto'
import { canonicalJson, type Json } from './canonical-json.ts'

/**
 * What the signatures of an agent card are worth. `valid`: one holds, by a key that the card's own origin publishes.
 * `invalid`: none does, so the card was changed. `untrusted`: they are by keys of somewhere else, which anybody could
 * have signed with, or in a way that is not checked. `none`: it is not signed.
 */
export type CardSignature = 'valid' | 'invalid' | 'untrusted' | 'none'

/** Keys that a signature names; undefined: nobody answers there, or these are none. */
type KeysAt = (url: URL) => Promise<readonly JsonWebKey[] | undefined>

/** Signatures of a card that are looked at. */
const mostSignatures = 4
/** Characters of a signature's header; real ones have some two hundred. */
const longestHeader = 4_096
const leastRsaBits = 2_048

interface Signed {
  readonly header: { readonly alg: string; readonly kid: string | undefined; readonly jku: string | undefined }
  readonly protected: string
  readonly signature: Buffer
}

/**
 * Checks the signatures of a card that was read at `url`. A key is asked for at the card's own origin alone: whoever
 * signs chooses where the key is said to lie, so that a key of another origin proves nothing.
 *
 * Source: A2A specification 1.0, 8.4; RFC 7515; RFC 8785. Signers differ in what they leave out of the payload: the card
 * as it was received counts as well as one without empty values.
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
    const holds = payloads.some((payload) => isBy(key, signed, Buffer.from(`${signed.protected}.${payload}`, 'ascii')))
    if (holds) return 'valid'
    hasFailed = true
  }
  return hasFailed ? 'invalid' : 'untrusted'
}

/** Undefined: it is none that could be checked. `none` and HMACs are no signatures of anybody. */
function readSignature(given: Json): Signed | undefined {
  const { protected: head, signature } = (given ?? {}) as Record<string, unknown>
  if (typeof head !== 'string' || typeof signature !== 'string' || head.length > longestHeader) return undefined
  try {
    const { alg, kid, jku, crit } = JSON.parse(Buffer.from(head, 'base64url').toString())
    if (!Object.hasOwn(checks, alg) || crit !== undefined) return undefined
    const header = { alg, kid: textOf(kid), jku: textOf(jku) }
    return { header, protected: head, signature: Buffer.from(signature, 'base64url') }
  } catch {
    return undefined
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

const checks: Readonly<Record<string, { fits(key: KeyObject): boolean; digest: string | null }>> = {
  ES256: { fits: (key) => key.asymmetricKeyDetails?.namedCurve === 'prime256v1', digest: 'sha256' },
  EdDSA: { fits: (key) => key.asymmetricKeyType === 'ed25519', digest: null },
  RS256: {
    fits: (key) => key.asymmetricKeyType === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= leastRsaBits,
    digest: 'sha256',
  },
}

/** The key that a header names; the only one of its kind where it names none. */
function keyOf(keys: readonly JsonWebKey[], { alg, kid }: Signed['header']): KeyObject | undefined {
  const named = kid === undefined ? keys : keys.filter((key) => key.kid === kid)
  const usable = named.flatMap((jwk) => {
    try {
      const key = createPublicKey({ key: jwk, format: 'jwk' })
      return checks[alg]?.fits(key) ? [key] : []
    } catch {
      return [] // no key, or of a kind that is not known
    }
  })
  return usable.length === 1 || kid !== undefined ? usable[0] : undefined
}

function isBy(key: KeyObject, { header, signature }: Signed, signed: Buffer): boolean {
  return verify(checks[header.alg]?.digest ?? null, signed, { key, dsaEncoding: 'ieee-p1363' }, signature)
}

/** Without members that are empty, zero or false, as the message's defaults are left out. */
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
