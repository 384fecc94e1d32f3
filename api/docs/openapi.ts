import { z } from 'zod'
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiResponsesObject } from 'zod-openapi'
import { type ErrorCode, errorStatus } from '../http/errors.ts'
import type { Route } from '../http/route.ts'
import { challengeQuery } from '../routes/claim-challenge.ts'
import { routes } from '../routes.ts'
import { challengeAnswer, claimAnswer, claimRequest } from '../schemas/claim.ts'
import { errorSchemas } from '../schemas/error.ts'

/** Every metered answer can be one of these. */
const always: readonly ErrorCode[] = [
  'ERR_PAYLOAD_INVALID',
  'ERR_RATE_LIMIT',
  'ERR_RATE_LIMIT_DAILY',
  'ERR_INTERNAL',
  'ERR_RATE_LIMITER_UNAVAILABLE',
]

/** The OpenAPI 3.1 document of the service, made from the definitions that validate requests and type answers. */
export function openApiDocument(): Record<string, unknown> {
  const reads = Object.fromEntries(routes.map((route) => [route.path, { get: operation(route) }]))
  return createDocument({
    openapi: '3.1.1',
    info: {
      title: 'Agent Directory',
      version: '1.0.0',
      description:
        'AI agents that are verifiably somebody’s: ERC-8004 identities joined with accounts of a social network by ' +
        'their verified addresses, and every gasless USDC settlement those addresses received. ' +
        'Reads need no key. A client may ask 60 times a minute and 2,000 times a UTC day. ' +
        'A query parameter out of bounds is taken for the nearest bound, an unknown word for the default.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    paths: { ...reads, '/api/claim': { post: claim }, '/api/claim/challenge': { get: challenge } },
  }) as unknown as Record<string, unknown>
}

function operation(route: Route): ZodOpenApiOperationObject {
  const { operationId, summary, params, query, answer, maxAgeSeconds } = route
  const [type = ''] = answer.type.split(';')
  return {
    operationId,
    summary,
    description: `May be cached for ${maxAgeSeconds} seconds. \`If-None-Match\` is answered with 304.`,
    requestParams: { path: params, query },
    responses: {
      '200': {
        description: answer.description,
        headers: z.object({
          'Cache-Control': z.literal(`public, max-age=${maxAgeSeconds}`),
          ETag: z.string().meta({ description: 'Strong, and of this encoding alone.' }),
          'X-Request-Id': z.string(),
          Age: z.string().optional().meta({ description: 'Seconds since the answer was made.' }),
          RateLimit: z.string().meta({ description: 'What is left of each limit.' }),
          'RateLimit-Policy': z.string(),
        }),
        content: { [type]: { schema: answer.schema } },
      },
      '304': { description: 'Not changed since the given tag.' },
      ...errorResponses([...route.errors, ...always]),
    },
  }
}

const claimErrors: readonly ErrorCode[] = [
  ...(['ERR_METHOD_UNSUPPORTED', 'ERR_FID_INVALID', 'ERR_ADDRESS_MALFORMED', 'ERR_JFS_PAYLOAD_INVALID'] as const),
  ...(['ERR_SIG_INVALID', 'ERR_SIG_EXPIRED', 'ERR_NONCE_USED', 'ERR_FID_MISMATCH', 'ERR_JFS_FID_MISMATCH'] as const),
  ...(['ERR_ADDRESS_NOT_VERIFIED', 'ERR_JFS_KEY_INACTIVE', 'ERR_MANIFEST_FETCH_FAILED'] as const),
  ...(['ERR_MANIFEST_ADDRESS_UNVERIFIED', 'ERR_RATE_LIMITED'] as const),
]

const notStored = z.object({ 'Cache-Control': z.literal('no-store'), 'X-Request-Id': z.string() })

const claim: ZodOpenApiOperationObject = {
  operationId: 'claim',
  summary: 'Claims a FID.',
  description:
    'A nonce is good for one accepted claim; a refused one leaves it free. Ten attempts a client in ten minutes, and ' +
    'six fetches a host, besides the limits of every request.',
  requestParams: {
    header: z.object({ 'X-FID': z.string().optional().meta({ description: 'Instead of, or equal to, `fid`.' }) }),
    query: z.object({
      dry_run: z.enum(['true', 'false']).optional().meta({ description: 'true: every check, and nothing is stored.' }),
    }),
  },
  requestBody: { required: true, content: { 'application/json': { schema: claimRequest } } },
  responses: {
    '200': {
      description: 'The claim was accepted, or would be.',
      headers: notStored,
      content: { 'application/json': { schema: claimAnswer } },
    },
    ...errorResponses([...claimErrors, ...always]),
  },
}

const challenge: ZodOpenApiOperationObject = {
  operationId: 'getClaimChallenge',
  summary: 'The text that an eip191 claim signs, with a fresh nonce.',
  description: 'A convenience: nothing is stored, and any nonce and time of the claimant’s own do as well.',
  requestParams: { query: challengeQuery },
  responses: {
    '200': {
      description: 'The challenge.',
      headers: notStored,
      content: { 'application/json': { schema: challengeAnswer } },
    },
    ...errorResponses(['ERR_FID_INVALID', 'ERR_ADDRESS_MALFORMED', ...always]),
  },
}

function errorResponses(codes: readonly ErrorCode[]): ZodOpenApiResponsesObject {
  const statuses = [...new Set(codes.map((code) => errorStatus[code]))]
  return Object.fromEntries(
    statuses.map((status) => {
      const group = codes.filter((code) => errorStatus[code] === status)
      const schemas = group.map((code) => errorSchemas[code])
      const schema = schemas.length === 1 ? (schemas[0] as z.ZodType) : z.union(schemas)
      return [String(status), { description: group.join(' or '), content: { 'application/json': { schema } } }]
    }),
  )
}
