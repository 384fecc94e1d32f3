import type { Request, RequestHandler } from 'express'
import type { z } from 'zod'
import type { ChainName } from '../chains.config.ts'
import type { ChainSettings } from '../chains.file.ts'
import type { Queryable } from '../db/pool.ts'
import type { Cache } from './cache.ts'
import { Content, chooseEncoding } from './content.ts'
import { ApiError, type ErrorCode } from './errors.ts'
import type { FirstProduced } from './first-produced.ts'
import { refusals } from './parameters.ts'

/** What a read needs. */
export interface Sources {
  readonly database: Queryable
  readonly chains: Record<ChainName, Pick<ChainSettings, 'registry'>>
  /** spec: the two listed entry points; all: the two overloads with bytes signatures as well. */
  readonly settlementOverloads: 'spec' | 'all'
  /** Address of this service, of the web site; without a slash at the end. */
  readonly baseUrl: string
  readonly siteUrl: string
  readonly serviceName: string
  /** Numbers that several answers share, by what they count. */
  readonly totals: Cache<Total>
  readonly bulkProduced: FirstProduced
}

export interface Total {
  readonly total: number
  readonly bytes: number
}

/** A GET: what it takes, what it gives, for how long. It validates, types and documents. */
export interface Route<P extends z.ZodObject = z.ZodObject, Q extends z.ZodObject = z.ZodObject> {
  /** As in OpenAPI: `{name}` where a parameter stands. Also the first part of cache keys. */
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly params: P
  readonly query: Q
  /** The answer of a 200. */
  readonly answer: { readonly type: string; readonly schema: z.ZodType; readonly description: string }
  readonly errors: readonly ErrorCode[]
  /** `max-age` of a 200, in seconds. */
  readonly maxAgeSeconds: number
  /** How long this process answers without asking the database, in seconds. Never above `maxAgeSeconds`. */
  readonly freshSeconds: number
  /** A number that changes with the answer: another one makes a new answer before the old one is stale. */
  readonly revision?: (sources: Sources) => Promise<number>
  /** `detail` of the 404, for routes that can have nothing to say. */
  readonly missing?: string
  /** The body; undefined: 404. */
  readonly read: (input: z.output<P> & z.output<Q>, sources: Sources) => Promise<string | Buffer | undefined>
}

/** The type of a route is inferred from its schemas. */
export function route<P extends z.ZodObject, Q extends z.ZodObject>(definition: Route<P, Q>): Route {
  return definition as unknown as Route
}

/** Parse, ask the cache or the database, answer. */
export function answer(
  definition: Route,
  sources: Sources,
  cache: Cache<Content>,
  onRead: CacheObserver,
): RequestHandler {
  const { answer: given, maxAgeSeconds, freshSeconds, missing = 'there is nothing at this path' } = definition
  const cacheControl = `public, max-age=${maxAgeSeconds}`
  return async (req, res) => {
    const input = parse(definition, req)
    const revision = definition.revision ? await definition.revision(sources) : ''
    const key = `${definition.path} ${JSON.stringify(input)} ${revision}`
    const {
      value: content,
      hit,
      ageSeconds,
    } = await cache.get(key, freshSeconds * 1_000, async () => {
      const body = await definition.read(input as never, sources)
      return body === undefined ? undefined : new Content(given.type, Buffer.from(body as string))
    })
    onRead(definition.path, hit)
    if (!content) throw new ApiError('ERR_NOT_FOUND', missing)
    const before = content.bytes
    const { body, encoding, etag } = await content.in(chooseEncoding(req.headers['accept-encoding']))
    if (content.bytes !== before) cache.measure(key)

    res.setHeader('Cache-Control', cacheControl)
    res.setHeader('ETag', etag)
    res.setHeader('Vary', 'Accept-Encoding')
    if (hit) res.setHeader('Age', String(ageSeconds))
    if (holds(req.headers['if-none-match'], etag)) return void res.writeHead(304).end()
    res.setHeader('Content-Type', content.type)
    res.setHeader('Content-Length', body.length)
    if (encoding !== 'identity') res.setHeader('Content-Encoding', encoding)
    res.end(body)
  }
}

/**
 * Whether an If-None-Match header names the tag. Express' own test is not used: it takes `Cache-Control: no-cache`
 * for a wish to get the body again, and clients send that with every condition they set by hand.
 */
function holds(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()))
}

export type CacheObserver = (path: string, hit: boolean) => void

export const json = 'application/json; charset=utf-8'

/** Path parameters refuse what they cannot be; query parameters take everything. */
function parse({ params, query }: Route, req: Request): Record<string, unknown> {
  const path = params.safeParse(req.params)
  if (!path.success) {
    const name = path.error.issues[0]?.path[0] as keyof typeof refusals
    throw refusals[name]()
  }
  return { ...path.data, ...query.parse(req.query) }
}

export function registryAddresses(chains: Sources['chains']): Record<ChainName, string> {
  return Object.fromEntries(Object.entries(chains).map(([name, chain]) => [name, chain.registry.address])) as never
}
