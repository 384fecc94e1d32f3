import type { SignedAnswer } from './generated/types.gen.ts'

/** A public key of /.well-known/jwks.json. */
export interface SigningKey {
  readonly kid: string
  readonly kty: string
  readonly crv: string
  readonly x: string
}

/** What a service answered, as it signed it. */
interface Evidence {
  /** The body, as it was sent. */
  readonly body: string
  /** Address of the service that signed. */
  readonly service: string
  /** What it was asked for. */
  readonly path: string
  /** When it signed, ISO 8601. */
  readonly time: string
  /** Last checkpoint of its transparency log, a signed note of its own; null: it had none. */
  readonly checkpoint: string | null
}

interface Header {
  readonly alg: string
  readonly kid: string
  readonly crit?: unknown
  readonly iss: string
  readonly path: string
  readonly time: string
  readonly checkpoint: string | null
}

/**
 * What a signed answer says. Rejects unless one of the keys has signed exactly this: know the keys from a time before
 * there was anything to dispute, since whoever sends an answer can send keys as well.
 */
export async function verifySigned(answer: SignedAnswer, keys: readonly SigningKey[]): Promise<Evidence> {
  const { alg, kid, crit, iss: service, path, time, checkpoint } = JSON.parse(textOf(answer.protected)) as Header
  const known = keys.find((key) => key.kid === kid)
  if (!known) throw new Error(`no key named ${kid} is known`)
  if (alg !== 'EdDSA' || crit !== undefined) throw new Error('it is signed in another way than answers are')
  const { kty, crv, x } = known
  const key = await crypto.subtle.importKey('jwk', { kty, crv, x }, 'Ed25519', false, ['verify'])
  const signed = new TextEncoder().encode(`${answer.protected}.${answer.payload}`)
  if (!(await crypto.subtle.verify('Ed25519', key, bytesOf(answer.signature), signed))) {
    throw new Error('the signature is wrong')
  }
  return { body: textOf(answer.payload), service, path, time, checkpoint }
}

/** Bytes of base64url. Throws for any other text. */
function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}

const textOf = (base64url: string) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytesOf(base64url))
