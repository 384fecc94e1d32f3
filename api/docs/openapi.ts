import { z } from 'zod'
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathItemObject,
  type ZodOpenApiResponseObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi'
import { grouped, requestLimits } from '../../config/limits.ts'
import { type ErrorCode, errorTable } from '../http/errors.ts'
import type { Action, Operation, Route } from '../http/route.ts'
import { queryOf, signedAnswer, signedType } from '../http/signed.ts'
import { agentFeedOperation } from '../pages/agent/atom-feed.ts'
import { actions, routes, streams } from '../routes.ts'
import { errorSchemas } from '../schemas/error.ts'
import type { Stream } from '../stream/stream.ts'
import { examples } from './generated/examples.ts'

const { perMinute, perDay, pagesPerMinute } = requestLimits

/** Error codes that every metered request can be answered with. */
const always: readonly ErrorCode[] = [
  'ERR_PAYLOAD_INVALID',
  'ERR_RATE_LIMIT',
  'ERR_RATE_LIMIT_DAILY',
  'ERR_INTERNAL',
  'ERR_RATE_LIMITER_UNAVAILABLE',
]

/** What the service is and asks of its users, in some sentences. */
export const openApiInfo = {
  title: 'Agent Directory',
  version: '1.0.0',
  description:
    'AI agents that are verifiably somebody’s: ERC-8004 identities joined with accounts of a social network by ' +
    'their verified addresses, and every gasless USDC settlement those addresses received. ' +
    `Reads need no key. A client may ask ${perMinute} times a minute and ${grouped(perDay)} times a UTC day. ` +
    'A query parameter out of bounds is taken for the nearest bound, an unknown order or period for the default; a filter ' +
    'that cannot be read matches nothing. ' +
    'Who accepts application/problem+json and nothing else gets errors as problem details (RFC 9457).',
  license: { name: 'MIT', identifier: 'MIT' },
}

/** Tokens that some requests need. */
const tokens = {
  webhookToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'wht_',
    description: 'the `manage_token` of the endpoint, said once, by the answer to its registration.',
  },
} as const satisfies Readonly<Record<NonNullable<Action<never>['token']>, object>>

type CachedRead = Operation & Pick<Route, 'maxAgeSeconds' | 'signable'>

/** Reads for programs that are served among the pages: the feed of an agent. */
export const documentedPages: readonly CachedRead[] = [agentFeedOperation]

type OpenApiDocument = Readonly<Record<string, unknown>>

let own: OpenApiDocument | undefined

/** The OpenAPI 3.1 document, made once, when it is first asked for, of what validates requests and types answers. */
export function openApiDocument(): OpenApiDocument {
  own ??= makeDocument()
  return own
}

function makeDocument(): OpenApiDocument {
  const paths: Record<string, ZodOpenApiPathItemObject> = {}
  for (const route of routes) paths[route.path] = { ...paths[route.path], get: readOf(route) }
  for (const action of actions) paths[action.path] = { ...paths[action.path], [action.method]: actionOf(action) }
  for (const stream of streams) paths[stream.path] = { get: streamOf(stream) }
  for (const page of documentedPages) paths[page.path] = { get: pageOf(page) }
  return createDocument({
    openapi: '3.1.1',
    info: openApiInfo,
    servers: [{ url: '/' }],
    paths,
    components: { securitySchemes: tokens },
  }) as unknown as OpenApiDocument
}

const metered = z.object({
  RateLimit: z.string().meta({ description: 'What is left of each limit.' }),
  'RateLimit-Policy': z.string(),
})

/** Of an answer that may be signed: how to ask for it so, and what comes then. */
function readOf(route: Route): ZodOpenApiOperationObject {
  const { errors, signable } = route
  const operation = cachedRead(
    route,
    metered,
    errorResponses([...new Set([...errors, ...(signable ? signedErrors : []), ...always])]),
  )
  if (!signable) return operation
  const answer = operation.responses['200'] as ZodOpenApiResponseObject
  const content = { ...answer.content, [signedType]: { schema: signedAnswer } }
  return { ...operation, responses: { ...operation.responses, '200': { ...answer, content } } }
}

/** Without a key there is no signed answer. */
const signedErrors: readonly ErrorCode[] = ['ERR_NOT_FOUND']

/** Error codes that every page can be answered with, as HTML. */
const pageErrors: readonly ErrorCode[] = ['ERR_RATE_LIMIT', 'ERR_INTERNAL']

function pageOf(page: CachedRead): ZodOpenApiOperationObject {
  const told = errorsByStatus([...page.errors, ...pageErrors], () => ({ 'text/html': { schema: z.string() } }))
  const operation = cachedRead(page, z.object({}), told)
  const limit = `Counted with pages: ${pagesPerMinute} a minute. Errors are pages as well.`
  return { ...operation, description: `${operation.description} ${limit}` }
}

function cachedRead(
  route: CachedRead,
  counted: z.ZodObject,
  errors: ZodOpenApiResponsesObject,
): ZodOpenApiOperationObject {
  const { operationId, summary, params, maxAgeSeconds } = route
  const headers = z.object({
    'Cache-Control': z.literal(`public, max-age=${maxAgeSeconds}`),
    ETag: z.string().meta({ description: 'Strong, and of this encoding alone.' }),
    'X-Request-Id': z.string(),
    Age: z.string().optional().meta({ description: 'Seconds since the answer was made.' }),
    ...counted.shape,
  })
  return {
    operationId,
    summary,
    description: `May be cached for ${maxAgeSeconds} seconds. \`If-None-Match\` is answered with 304.`,
    requestParams: { path: params, query: queryOf(route) },
    responses: {
      ...answerOf(route, headers),
      '304': { description: 'Not changed since the given tag.' },
      ...errors,
    },
  }
}

const notStored = z.object({ 'Cache-Control': z.literal('no-store'), 'X-Request-Id': z.string() })

function actionOf(action: Action<never>): ZodOpenApiOperationObject {
  const { operationId, summary, description, params, query, headers, token, body } = action
  return {
    operationId,
    summary,
    description: token
      ? `${description} Needs \`Authorization: Bearer\` and ${tokens[token].description}`
      : description,
    ...(token && { security: [{ [token]: [] }] }),
    requestParams: { path: params, ...(headers && { header: headers }), query },
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: { ...answerOf(action, notStored), ...errorResponses([...action.errors, ...always]) },
  }
}

const unending = z.object({ 'Cache-Control': z.literal('no-cache, no-transform'), 'X-Request-Id': z.string() })

function streamOf(stream: Stream): ZodOpenApiOperationObject {
  const { operationId, summary, description, params, query, headers } = stream
  return {
    operationId,
    summary,
    description,
    requestParams: { path: params, header: headers, query },
    responses: { ...answerOf(stream, unending), ...errorResponses([...stream.errors, ...always]) },
  }
}

function answerOf({ answer, operationId }: Operation, headers: z.ZodObject): ZodOpenApiResponsesObject {
  const [type = ''] = answer.type.split(';')
  const content = { schema: answer.schema, ...(operationId in examples && { example: examples[operationId] }) }
  return { '200': { description: answer.description, headers, content: { [type]: content } } }
}

function errorResponses(codes: readonly ErrorCode[]): ZodOpenApiResponsesObject {
  return errorsByStatus(codes, (group) => {
    const schemas = group.map((code) => errorSchemas[code])
    const schema = schemas.length === 1 ? (schemas[0] as z.ZodType) : z.union(schemas)
    return { 'application/json': { schema } }
  })
}

/** One response for each HTTP status of the codes; its description names the codes of that status. */
function errorsByStatus(
  codes: readonly ErrorCode[],
  contentOf: (codes: readonly ErrorCode[]) => ZodOpenApiResponseObject['content'],
): ZodOpenApiResponsesObject {
  const statuses = [...new Set(codes.map((code) => errorTable[code].status))]
  return Object.fromEntries(
    statuses.map((status) => {
      const group = codes.filter((code) => errorTable[code].status === status)
      return [String(status), { description: group.join(' or '), content: contentOf(group) }]
    }),
  )
}
