import type { RequestHandler } from 'express'
import type { z } from 'zod'
import type { ChainName } from '../../chains.config.ts'
import type { ChainSettings } from '../../chains.file.ts'
import type { Queryable } from '../../db/pool.ts'
import type { Installation } from '../../db/queries/sql/installation.ts'
import type { Cache } from './cache.ts'
import type { PagedBody } from './cursor.ts'
import type { ErrorCode } from './errors.ts'

/*
 * Everything about a request of the API stands in one definition, in a file of its own under api/routes/. From it come
 * the registration with Express, the part of openapi.json and /docs, the validation of what is asked, the headers of
 * the answer and the types of the code that makes it. Nothing about a request is said again elsewhere.
 *
 * To add a GET that reads and may be cached (a `Route`):
 * 1. api/schemas/<answer>.ts: the answer as zod, every field with a `.meta({ description })` unless its name says all.
 *    Pieces that several answers share are in api/schemas/scalars.ts and beside the profile.
 * 2. db/queries/read/<question>.ts: the question, as one named statement that gives the body as JSON text.
 * 3. api/routes/<noun>.ts: `export const noun = route({ ... })`. Path parameters come from api/http/parameters.ts
 *    (`fidParameter`, `addressParameter`; what they refuse is an error). Query parameters refuse nothing: a word that
 *    is unknown is the default, a number out of bounds the nearest bound (api/http/parameters.ts), a filter that cannot
 *    be read matches nothing (api/http/filter-parameters.ts). A list that goes on takes `cursorParameter`
 *    (api/http/cursor.ts) and answers with `pagedBody`. `errors` are those besides the ones every answer can be.
 * 4. api/routes.ts: append it to `routes`. Its path must lie below a metered prefix (api/limits/limiter.ts).
 * 5. `npx vitest run test/api/openapi.test.ts -u` writes openapi.json; a test of its own goes under test/api/.
 *
 * A page, a feed or a sitemap is a `Route` as well, mounted by api/pages/pages.ts and not listed in openapi.json.
 * Whoever needs an answer without HTTP (a page, a tool of another protocol) asks `readThrough` of api/http/answer.ts.
 *
 * With `tool` it is a tool of MCP as well, with the same parameters and the same answer; with `resource` one can be
 * read there by its URI.
 *
 * To add a request that writes, or whose answer nobody may keep (an `Action`): the same, with `action({ ... })` and
 * `actions` of api/routes.ts; it brings its own handler. A path may have several methods, each its own definition.
 */

/** What a read needs. */
export interface Sources {
  /** To read with: what it gives may be some seconds old, where there are standbys. */
  readonly database: Queryable
  /** The database itself, for what numbers changes or writes: a mirror must not be sent back. */
  readonly primary: Queryable
  readonly chains: Readonly<Record<ChainName, Pick<ChainSettings, 'registry' | 'tokens'>>>
  /** spec: the two listed entry points; all: the two overloads with bytes signatures as well. */
  readonly settlementOverloads: 'spec' | 'all'
  /** Address of this service, of the web site; without a slash at the end. */
  readonly baseUrl: string
  readonly siteUrl: string
  readonly serviceName: string
  /** Numbers that several answers share, by what they count. */
  readonly totals: Cache<Total>
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Told of an agent that a file, a feed or a list goes without, because it cannot be shown there. */
  readonly leftOut: (place: string, fid: number, cause: unknown) => void
}

export interface Total {
  readonly total: number
  /** The parts that it is made of, where totals of several questions are sums of them: JSON. */
  readonly groups?: string
  /** Number of the newest change of an agent when it was counted, where that matters. */
  readonly change?: number
  readonly bytes: number
}

/** What a request takes and what it is answered with. */
export interface Operation<P extends z.ZodObject = z.ZodObject, Q extends z.ZodObject = z.ZodObject> {
  /** As in OpenAPI: `{name}` where a parameter stands. Also the first part of cache keys. */
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly params: P
  readonly query: Q
  /** The answer of a 200. */
  readonly answer: { readonly type: string; readonly schema: z.ZodType; readonly description: string }
  /** Besides those that every metered answer can be. */
  readonly errors: readonly ErrorCode[]
  /** That it goes away; its answers then say so (api/http/headers.ts). Absent: it stays. */
  readonly deprecated?: Deprecation
}

/** Notice that a request goes away. */
interface Deprecation {
  /** The UTC day of the notice, `2027-01-01`. */
  readonly since: string
  /** The first UTC day without it: at least twelve months later. */
  readonly sunset: string
  /** The path to ask instead, as in OpenAPI; absent: there is none. */
  readonly successor?: string
}

/** A GET that reads: what it takes, what it gives, for how long. */
export interface Route<P extends z.ZodObject = z.ZodObject, Q extends z.ZodObject = z.ZodObject>
  extends Operation<P, Q> {
  /** `max-age` of a 200, in seconds. */
  readonly maxAgeSeconds: number
  /** How long this process answers without asking the database, in seconds. Never above `maxAgeSeconds`. */
  readonly freshSeconds: number
  /** A number that changes with the answer: another one makes a new answer before the old one is stale. */
  readonly revision?: (sources: Sources) => Promise<number>
  /** Of a 200 and a 304, besides those that every answer has. */
  readonly headers?: Readonly<Record<string, string>>
  /** `detail` of the 404, for routes that can have nothing to say. */
  readonly missing?: string
  /**
   * As a tool of the MCP server (api/mcp): its name, and in a sentence or two when to take it. `untold` parameters are
   * taken like the others and not described, as every word of a tool costs its user.
   */
  readonly tool?: { readonly name: string; readonly use: string; readonly untold?: readonly string[] }
  /** As a resource there: a URI template over its parameters. */
  readonly resource?: string
  /** The body; undefined: 404. */
  readonly read: (input: z.output<P> & z.output<Q>, sources: Sources) => Promise<string | PagedBody | undefined>
}

/** The type of a route is inferred from its schemas. */
export function route<P extends z.ZodObject, Q extends z.ZodObject>(definition: Route<P, Q>): Route {
  return definition as unknown as Route
}

/** A request that writes, or whose answer is kept by nobody. `D`: what it needs. */
export interface Action<D> extends Operation {
  readonly method: 'get' | 'post' | 'delete'
  readonly description: string
  /** Request headers that mean something to it. */
  readonly headers?: z.ZodObject
  /** Of a JSON body, where there is one. */
  readonly body?: z.ZodType
  /** Its handlers, made once when the service starts. They answer with `Cache-Control: no-store`. */
  readonly serve: (deps: D) => RequestHandler[]
}

/** `/api/agent/:fid`: how Express writes the path. */
export const expressPath = ({ path }: { readonly path: string }) => path.replaceAll(/\{(\w+)\}/g, ':$1')

/** What a path may be asked with, by the path as Express writes it. */
export function methodsByPath(
  operations: readonly (Operation & { readonly method?: string })[],
): Map<string, string[]> {
  const paths = new Map<string, string[]>()
  for (const operation of operations) {
    const { method = 'get' } = operation
    const path = expressPath(operation)
    const methods = method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]
    paths.set(path, [...(paths.get(path) ?? []), ...methods])
  }
  return paths
}

export const json = 'application/json; charset=utf-8'

/** What profiles tell of this service itself. */
export function installationOf({ chains, baseUrl }: Pick<Sources, 'chains' | 'baseUrl'>): Installation {
  const registries = Object.entries(chains).map(([name, chain]) => [name, chain.registry.address])
  return { registries: Object.fromEntries(registries), baseUrl }
}
