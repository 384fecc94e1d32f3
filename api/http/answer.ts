import type { Request, RequestHandler, Response } from 'express'
import { LRUCache } from 'lru-cache'
import type { Cache, CacheAnswer } from './cache.ts'
import { type Content, chooseEncoding, contentOf } from './content.ts'
import { ApiError } from './errors.ts'
import { refusals } from './parameters.ts'
import type { Route, Sources } from './route.ts'
import { type SignContent, signedPath, wantsSignature } from './signed.ts'

/** Called after every read, with whether it was a cache hit. */
export type CacheObserver = (path: string, hit: boolean) => void

export interface AnswerDeps {
  readonly sources: Sources
  readonly cache: Cache<Content>
  readonly onRead: CacheObserver
  /** Signs what may be asked for signed. */
  readonly sign: SignContent
  /** Whether there is a key to sign with. */
  readonly hasKey: boolean
}

/** The handler of a route: parses the request, asks the cache or the database, answers 200, 304 or 404. */
export function answer(route: Route, { sources, cache, onRead, sign, hasKey }: AnswerDeps): RequestHandler {
  const { maxAgeSeconds, missing = 'there is nothing at this path' } = route
  const headers = Object.entries(route.headers ?? {})
  const vary = route.signable ? 'Accept-Encoding, Accept' : undefined
  return async (req, res) => {
    const read = await readThrough(route, inputOf(route, req), sources, cache)
    const { hit, ageSeconds } = read
    onRead(route.path, hit)
    if (!read.value) throw new ApiError('ERR_NOT_FOUND', missing)
    const isSigned = route.signable && wantsSignature(req, hasKey)
    const signed = isSigned ? await sign(read.value, signedPath(route, req), route.freshSeconds * 1_000) : undefined
    const { key, value } = signed ?? { key: read.key, value: read.value }
    if (hit) res.setHeader('Age', String(ageSeconds))
    for (const [name, text] of headers) res.setHeader(name, text)
    if (value.next !== undefined) tell(res, 'Link', `<${value.next}>; rel="next"`) // RFC 8288
    for (const [name, text] of Object.entries(value.headers)) tell(res, name, text)
    const before = value.bytes
    await sendContent(req, res, value, { maxAgeSeconds, vary })
    if (value.bytes !== before) cache.measure(key)
  }
}

/** Adds a response header, and lets scripts on other origins read it. */
function tell(res: Response, name: string, text: string): void {
  res.appendHeader(name, text)
  res.setHeader('Access-Control-Expose-Headers', `${res.getHeader('Access-Control-Expose-Headers')}, ${name}`)
}

/** The answer of a route to parsed parameters, from the cache while it is fresh there. `value` undefined: 404. */
export async function readThrough(
  route: Route,
  input: Record<string, unknown>,
  sources: Sources,
  cache: Cache<Content>,
): Promise<CacheAnswer<Content> & { readonly key: string }> {
  const revision = route.revision ? await route.revision(sources) : ''
  const key = `${route.path} ${JSON.stringify(input)} ${revision}`
  const load = async () => {
    const read = await route.read(input as never, sources)
    if (read === undefined) return undefined
    const { body, next, headers } = typeof read === 'string' ? { body: read, next: undefined, headers: {} } : read
    return contentOf(route.answer.type, body, next, headers)
  }
  const answered = await cache.get(key, route.freshSeconds * 1_000, load, { fid: input.fid, address: input.address })
  return { key, ...answered }
}

/** A handler for a static document: the same bytes for every client until the process ends. */
export function answerAlways(content: Content, maxAgeSeconds: number, more?: 'immutable'): RequestHandler {
  return (req, res) => sendContent(req, res, content, { maxAgeSeconds, more })
}

interface Sending {
  readonly maxAgeSeconds: number
  readonly more?: 'immutable' | undefined
  /** Headers of requests that decide which content it is. */
  readonly vary?: string | undefined
}

/** 200 in the encoding the client prefers, or 304 if the client already has it. */
async function sendContent(
  req: Request,
  res: Response,
  content: Content,
  { maxAgeSeconds, more, vary = 'Accept-Encoding' }: Sending,
): Promise<void> {
  const { body, length, encoding, etag } = await content.in(chooseEncoding(req.headers['accept-encoding']))
  res.setHeader('Cache-Control', `public, max-age=${maxAgeSeconds}${more ? `, ${more}` : ''}`)
  res.setHeader('ETag', etag)
  res.setHeader('Vary', vary)
  if (holds(req.headers['if-none-match'], etag)) return void res.writeHead(304).end()
  res.setHeader('Content-Type', content.type)
  res.setHeader('Content-Length', length)
  if (encoding !== 'identity') res.setHeader('Content-Encoding', encoding)
  res.end(body, 'latin1')
}

/**
 * Whether an If-None-Match header names the tag. Express' own test is not used: it takes `Cache-Control: no-cache`
 * for a wish to get the body again, but clients send that with every condition set by hand.
 */
export function holds(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()))
}

/** Parsed parameters of a request, kept by URL: parsing costs more than finding the answer in the cache. */
function inputOf(route: Route, req: Request): Record<string, unknown> {
  const { url } = req
  const known = understood.get(url)
  if (known?.route === route) return known.input
  const input = parseRequest(route, req)
  if (url.length <= longestRemembered) understood.set(url, { route, input })
  return input
}

const longestRemembered = 512
const understood = new LRUCache<string, { readonly route: Route; readonly input: Record<string, unknown> }>({
  max: 4_096,
})

/** Parsed path and query parameters, in one object. Throws for an invalid path parameter; queries are never refused. */
export function parseRequest(
  { params, query }: Route,
  req: { readonly params: object; readonly query: object },
): Record<string, unknown> {
  const path = params.safeParse(req.params)
  if (!path.success) {
    const name = path.error.issues[0]?.path[0] as keyof typeof refusals
    throw refusals[name]()
  }
  return { ...path.data, ...query.parse(req.query) }
}
