import type { Request } from 'express'
import Negotiator from 'negotiator'
import { z } from 'zod'
import type { Content } from './content.ts'
import { wordParameter } from './parameters.ts'
import type { Route } from './route.ts'

// Answers that their readers keep as evidence: signed as a JWS, whose payload is the body.

/** A JWS in its JSON form (RFC 7515, section 9.2.1). */
export const signedType = 'application/jose+json'

/**
 * Signs the content of a 200 that was asked for under a path. Rejects with ERR_NOT_FOUND when there is no key.
 *
 * `freshMs`: how long the same content is answered with the same signature. `key`: of the result in the cache of answers.
 */
export type SignContent = (
  content: Content,
  path: string,
  freshMs: number,
) => Promise<{ readonly key: string; readonly value: Content }>

const base64url = z.string().regex(/^[\w-]+$/)

/** The answer of a request that may be signed, with `signed=1`. */
export const signedAnswer = z
  .strictObject({
    payload: base64url.meta({ description: 'The body without `signed`, byte for byte, as base64url.' }),
    protected: base64url.meta({
      description:
        'Header, as base64url: `alg` EdDSA, `kid` of a key of /.well-known/jwks.json, `iss` the service, `path` with the ' +
        'parameters that the request knows, `time` of the signature, and `checkpoint`, the last one of the transparency ' +
        'log, or null.',
    }),
    signature: base64url,
  })
  .meta({ id: 'SignedAnswer', description: 'A JWS (RFC 7515) in flattened JSON.' })

const signedParameter = wordParameter(
  ['0', '1'],
  '0',
  `1: the answer as a JWS, to keep as evidence. \`Accept: ${signedType}\` asks for the same.`,
)

/** Query parameters of a request: its own and, where the answer may be signed, the one that asks for that. */
export function queryOf({
  query,
  signable,
}: Readonly<{ query: z.ZodObject; signable?: true | undefined }>): z.ZodObject {
  return signable ? query.extend({ signed: signedParameter }) : query
}

/** Whether a request asks for a signed answer. `Accept` asks a service that has a key: of another, JSON is what there is. */
export function wantsSignature(req: Request, hasKey: boolean): boolean {
  if (req.url.includes('signed=') && signedParameter.parse(req.query.signed) === '1') return true
  if (!hasKey || !req.headers.accept?.includes(signedType)) return false
  return new Negotiator(req).mediaType(['application/json', signedType]) === signedType
}

/**
 * Path of a request as it is signed: with those parameters alone that the route knows, because a client can put anything
 * else into its address, and have it signed. They are those that the answer was made from: of a long query, not all is read.
 */
export function signedPath({ query }: Route, req: Request): string {
  const { pathname } = new URL(req.originalUrl, 'http://service')
  const read: Record<string, unknown> = req.query
  const pairs = Object.keys(read)
    .filter((name) => Object.hasOwn(query.shape, name))
    .flatMap((name) => [read[name]].flat().map((value): [string, string] => [name, String(value)]))
  return pairs.length > 0 ? `${pathname}?${new URLSearchParams(pairs)}` : pathname
}
