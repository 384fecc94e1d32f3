import { createPublicKey, type KeyObject } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, FlattenedSign, type JWK } from 'jose'
import type { Queryable } from '../../db/pool.ts'
import { lastCheckpoint } from '../../db/queries/transparency/tree.ts'
import type { Cache } from '../http/cache.ts'
import { Content, jsonText } from '../http/content.ts'
import { ApiError } from '../http/errors.ts'
import { type SignContent, signedType } from '../http/signed.ts'

/** EdDSA (RFC 8037) rather than Ed25519 (RFC 9864), which is the same but younger than most libraries. */
const alg = 'EdDSA'
export const unsigned = 'this service signs no answers: its operator has given the API no LOG_KEY_FILE'

interface SignerDeps {
  /** Private keys, Ed25519: the first signs, the others did before. Absent or empty: nothing is signed. */
  readonly answerKeys?: readonly KeyObject[] | undefined
  readonly database: Queryable
  readonly cache: Cache<Content>
  readonly baseUrl: string
  readonly now: () => number
}

interface AnswerSigner {
  readonly sign: SignContent
  /** The public keys, as a JWK Set (RFC 7517). Undefined: nothing is signed. */
  readonly keys: (() => Promise<Content>) | undefined
}

/**
 * Signs answers as JSON Web Signatures (RFC 7515, flattened): the payload is the body, byte for byte; the header has who
 * said it, when, under which path, and what the transparency log had signed last. Each body is signed once while it is
 * fresh.
 *
 * The key may be that of the log: what a JWS signs has no line break, and what a log signs has some.
 */
export function answerSigner({ answerKeys = [], ...deps }: SignerDeps): AnswerSigner {
  const [secret] = answerKeys
  const jwks = once(() => Promise.all(answerKeys.map(publicJwk)))
  const keys = async () => new Content('application/jwk-set+json', Buffer.from(jsonText({ keys: await jwks() })))
  return {
    keys: secret && keys,
    async sign(content, path, freshMs) {
      if (!secret) throw new ApiError('ERR_NOT_FOUND', unsigned)
      const key = `signed ${path} ${content.etag}`
      const load = async () => signedContent(content, { path, secret, kid: (await jwks())[0]?.kid }, deps)
      return { key, value: (await deps.cache.get(key, freshMs, load)).value as Content }
    },
  }
}

async function signedContent(
  { text, next, headers }: Content,
  { path, secret, kid }: { readonly path: string; readonly secret: KeyObject; readonly kid: string | undefined },
  { database, cache, baseUrl, now }: Omit<SignerDeps, 'answerKeys'>,
): Promise<Content> {
  const checkpoint = await logText({ database, cache }, 'checkpoint')
  const header = {
    alg,
    kid,
    typ: 'JOSE+JSON',
    cty: 'json',
    iss: baseUrl,
    path,
    time: new Date(now()).toISOString(),
    checkpoint: checkpoint?.text.toString() ?? null,
  }
  const signed = await new FlattenedSign(text).setProtectedHeader(header).sign(secret)
  return new Content(signedType, Buffer.from(jsonText(signed)), next && `${next}&signed=1`, headers)
}

/** The public part of a key, which its thumbprint (RFC 7638) names. */
async function publicJwk(secret: KeyObject): Promise<JWK> {
  const jwk = await exportJWK(createPublicKey(secret))
  return { ...jwk, kid: await calculateJwkThumbprint(jwk), alg, use: 'sig' }
}

/** Makes something when it is first asked for. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

export type LogText = 'checkpoint' | 'key'

/** How long this process answers with what it has read, in milliseconds. */
const freshMs = 1_000

/** What the log signed last, or the key of that signature. Undefined: nothing was ever signed. */
export async function logText(
  { database, cache }: { readonly database: Queryable; readonly cache: Cache<Content> },
  name: LogText,
): Promise<Content | undefined> {
  const { value } = await cache.get(`/log/${name}`, freshMs, async () => {
    const last = await lastCheckpoint(database)
    return last && new Content('text/plain; charset=utf-8', Buffer.from(name === 'key' ? `${last.key}\n` : last.note))
  })
  return value
}
