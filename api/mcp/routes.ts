import { AsyncLocalStorage } from 'node:async_hooks'
import { toNodeHandler } from '@modelcontextprotocol/node'
import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import express, {
  type ErrorRequestHandler,
  type Response as ExpressResponse,
  type Request,
  type RequestHandler,
  Router,
} from 'express'
import type { Logger } from 'pino'
import { mcpLimits } from '../../config/limits.protocols.ts'
import { type CacheObserver, readThrough } from '../http/answer.ts'
import type { Cache } from '../http/cache.ts'
import { type Content, isJson, sendJson } from '../http/content.ts'
import { waitInLane } from '../http/database-turns.ts'
import { ApiError } from '../http/errors.ts'
import { requestId } from '../http/headers.ts'
import type { Sources } from '../http/route.ts'
import { cardRoutes } from './card.ts'
import { type Call, createServer, failed } from './server.ts'
import { createTools } from './tools.ts'

interface McpDeps {
  readonly sources: Sources
  /** Shared with the API: a tool and its route give the same answer. */
  readonly cache: Cache<Content>
  readonly onRead: CacheObserver
  readonly log: Logger
}

export const mcpPath = '/mcp'
/** Prefixes of the paths of the MCP server, its card and its catalog. */
export const mcpPlaces = [mcpPath, '/.well-known'] as const

/**
 * The MCP server (Model Context Protocol, streamable HTTP): revision 2026-07-28 and, on the same path, those before.
 * Nothing is kept between requests. It stands behind the limiter, which counts a request; one request is one call.
 */
export function mcpRoutes({ sources, cache, onRead, log }: McpDeps): Router {
  const { baseUrl, siteUrl, serviceName } = sources
  const tools = createTools()
  const calls = new AsyncLocalStorage<Call>()
  const judged = judge(baseUrl, siteUrl)
  const create = () => createServer(tools, serviceName, calls.getStore() as Call)
  const handler = createMcpHandler(create, {
    maxSubscriptions: 0, // nothing here changes while it is listened to
    maxRequestBodySize: mcpLimits.requestBytes,
    onerror: (err) => log.debug({ err }, 'a request of MCP was refused'),
  })
  const onerror = (err: Error) => log.error({ err }, 'a request of MCP failed')
  const serve = toNodeHandler(inLines(handler), { onerror })
  const serveJson = toNodeHandler(inLines(inJson(handler, create)), { onerror })

  const callOf = (res: ExpressResponse): Call => ({
    async ask(route, input) {
      const { value, hit } = await readThrough(route, input, sources, cache)
      onRead(route.path, hit)
      return value?.text.toString()
    },
    tell(cause) {
      const error = cause instanceof ApiError ? cause : new ApiError('ERR_INTERNAL')
      res.locals.errorCode = error.code
      if (error.status >= 500) log.error({ requestId: requestId(res), code: error.code, err: cause }, 'a call failed')
      return error
    },
  })

  const router = Router({ caseSensitive: true, strict: true })
  router.use(cardRoutes(sources))
  const paths = [mcpPath, `${mcpPath}/`]
  router.options(paths, judged, preflight)
  router.all(
    paths,
    judged,
    readBody,
    refuseBody,
    refuseList,
    waitInLane('api'),
    (req: Request, res: ExpressResponse) => {
      res.set('Cache-Control', 'no-store')
      return calls.run(callOf(res), () => (takesStream(req) ? serve : serveJson)(req, res, req.body))
    },
  )
  return router
}

/**
 * Whether a POST may be answered with a stream of events; false: with JSON. Revisions before 2026-07-28 make clients
 * name both types, and the library refuses those that do not: no header and wildcards, which mean both, and one type.
 * So a client that takes either is given both names here. The newest revision does not look at the header.
 */
function takesStream(req: Request): boolean {
  const { accept = '' } = req.headers
  if (media.every((type) => accept.includes(type))) return true
  const [takesJson, takesEvents] = media.map((type) => req.accepts(type) !== false)
  if (takesJson || takesEvents) req.headers.accept = media.join(', ')
  return !takesJson
}
const media = ['application/json', 'text/event-stream'] as const

/** The same handler, but what the library would answer with a stream of one event is the JSON in it. */
function inJson(handler: McpHttpHandler, create: () => McpServer): Pick<McpHttpHandler, 'fetch'> {
  return {
    async fetch(request, options) {
      const isPost = request.method === 'POST'
      if (!isPost || !(await isLegacyRequest(request, options?.parsedBody))) return handler.fetch(request, options)
      const server = create()
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
      try {
        await server.connect(transport)
        return await transport.handleRequest(request, options)
      } finally {
        await server.close()
      }
    },
  }
}

/** The same handler, whose JSON ends with a newline like that of the API. */
function inLines(handler: Pick<McpHttpHandler, 'fetch'>): Pick<McpHttpHandler, 'fetch'> {
  return {
    async fetch(request, options) {
      const answer = await handler.fetch(request, options)
      return isJson(answer.headers.get('Content-Type') ?? '')
        ? new Response(`${await answer.text()}\n`, answer)
        : answer
    },
  }
}

/** Answers with a JSON-RPC error a request that does not reach the protocol. */
function refuse(res: ExpressResponse, status: number, { code, message }: { code: number; message: string }): void {
  sendJson(res.status(status), { jsonrpc: '2.0', id: null, error: { code, message } })
}
const invalidRequest = -32_600
const parseError = -32_700

/**
 * Refuses pages of other sites, by the Origin that browsers send, and pages of names that were made to lead here (DNS
 * rebinding), by Host. Programs send no Origin.
 */
function judge(baseUrl: string, siteUrl: string): RequestHandler {
  const own = [baseUrl, siteUrl].map((url) => new URL(url))
  const hosts = new Set([...own.map(({ hostname }) => hostname), ...loopback])
  const origins = new Set(own.map(({ origin }) => origin))
  return (req, res, next) => {
    const host = URL.parse(`http://${req.get('Host')}`)?.hostname
    const origin = req.get('Origin')
    if (host !== undefined && !hosts.has(host)) {
      res.set('Connection', 'close')
      return refuse(res, 403, { code: invalidRequest, message: 'Host is not of this service' })
    }
    if (origin !== undefined && !origins.has(origin) && !loopback.includes(URL.parse(origin)?.hostname ?? '')) {
      return refuse(res, 403, { code: invalidRequest, message: 'Origin must be this service, localhost, or absent' })
    }
    next()
  }
}

/** Host names of the loopback interface. */
const loopback = ['localhost', '127.0.0.1', '[::1]']

const preflight: RequestHandler = (_req, res) => {
  res.set('Allow', 'POST, OPTIONS').set('Cache-Control', 'no-store')
  if (res.hasHeader('Access-Control-Allow-Methods')) {
    res.set('Access-Control-Allow-Headers', 'Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name')
  }
  res.status(204).end()
}

const readBody = express.json({ limit: mcpLimits.requestBytes, type: () => true })

const refuseBody: ErrorRequestHandler = (error, _req, res, next) => {
  if (!(error.status >= 400 && error.status < 500)) return next(error)
  refuse(res, error.status, {
    code: parseError,
    message: `the body must be JSON of at most ${mcpLimits.requestBytes} bytes`,
  })
}

/** Refuses batches of calls, which older revisions allow: the limiter would count each batch as one request. */
const refuseList: RequestHandler = (req, res, next) => {
  if (!Array.isArray(req.body)) return next()
  refuse(res, 400, { code: invalidRequest, message: 'one message a request: lists are not taken' })
}

/** Id of a tool call; undefined: the request is not one, or waits for no answer. */
function idOfToolCall({ body }: Request): string | number | undefined {
  const { jsonrpc, method, id } = (body ?? {}) as { jsonrpc?: unknown; method?: unknown; id?: unknown }
  const isCall = jsonrpc === '2.0' && method === 'tools/call'
  return isCall && (typeof id === 'string' || typeof id === 'number') ? id : undefined
}

/**
 * Error handler between the limiter and the routes: a tool call beyond the rate limit gets the result that its tool
 * would give, an error that the model reads, so that it can wait. No server is made for it: refusals have to be cheap.
 */
export const hearRefused: ErrorRequestHandler = (error, req, res, next) => {
  if (!(error instanceof ApiError) || error.status !== 429) return next(error)
  readBody(req, res, (unread) => {
    const id = unread ? undefined : idOfToolCall(req)
    if (id === undefined) return next(error)
    res.locals.errorCode = error.code
    sendJson(res, { jsonrpc: '2.0', id, result: { resultType: 'complete', ...failed(error) } })
  })
}
