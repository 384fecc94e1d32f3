import type { RequestHandler } from 'express'
import { z } from 'zod'
import type { ChainSettings } from '../../config/chains.file.ts'
import type { ChainName } from '../../config/chains.ts'
import type { Queryable } from '../../db/pool.ts'
import type { Installation } from '../../db/queries/sql/installation.ts'
import type { Cache } from './cache.ts'
import type { PagedBody } from './cursor.ts'
import type { ErrorCode } from './errors.ts'

/*
 * Each request of the API has one definition, in its own file under api/routes/. The registration with Express, its part
 * of openapi.json and /docs, the validation of parameters, the headers of the answer and the types of the code behind it
 * are all made from that definition. Nothing about a request is repeated elsewhere.
 *
 * To add a GET that reads and may be cached (a `Route`):
 * 1. api/schemas/<noun>/<answer>.ts: the answer as zod, every field with a `.meta({ description })` unless its name says it
 *    all. Pieces that several answers share are in api/schemas/scalars.ts and next to the profile. A noun, such as `agents` or
 *    `settlements`, has the same folder name here and in the next two steps.
 * 2. db/queries/<noun>/<question>.ts: the question, as one named statement that gives the body as JSON text.
 * 3. api/routes/<noun>/<request>.ts: `export const name = route({ ... })`. Path parameters come from api/http/parameters.ts
 *    (`fidParameter`, `addressParameter`), which answer bad values with an error. Query parameters refuse nothing: an
 *    unknown word becomes the default, a number out of bounds the nearest bound (api/http/parameters.ts), and a filter
 *    that cannot be read matches nothing (api/http/filter-parameters.ts). A list with pages takes `cursorParameter`
 *    (api/http/cursor.ts) and answers with `pagedBody`. `errors` lists only those that not every answer can have.
 * 4. api/routes.ts: append it to `routes`. Its path must begin with a metered prefix (api/limits/limiter.ts).
 * 5. `npx vitest run test/api/openapi.test.ts -u` writes openapi.json; its own test goes under test/api/.
 *
 * A page, a feed or a sitemap is a `Route` as well, mounted by api/pages/pages.ts and not listed in openapi.json.
 * Code that needs an answer without HTTP (a page, a tool of another protocol) calls `readThrough` of api/http/answer.ts.
 *
 * With `tool` it is an MCP tool as well, with the same parameters and the same answer; with `resource` it can also be
 * read there by a URI.
 *
 * To add a request that writes, or whose answer must not be cached (an `Action`): do the same with `action({ ... })` and
 * `actions` of api/routes.ts; it brings its own handler. A path may have several methods, each with its own definition.
 */

/** What a read needs: databases, settings, shared totals, the clock. */
export interface Sources {
  /** Database for reads; where a standby serves, results may be some seconds old. */
  readonly database: Queryable
  /** The primary, for writes and change numbers: at a standby that lags, a mirror's cursor could go backwards. */
  readonly primary: Queryable
  readonly chains: Readonly<
    Record<ChainName, Pick<ChainSettings, 'id' | 'registry' | 'social' | 'tokens' | 'paymentContracts'>>
  >
  /** Settlements served. spec: of the two listed entry points; all: also of their overloads with bytes signatures. */
  readonly settlementOverloads: 'spec' | 'all'
  /** Base URL of this service, and below that of the web site; without a slash at the end. */
  readonly baseUrl: string
  readonly siteUrl: string
  readonly serviceName: string
  /** Cache of totals that several answers share, by what they count: all pages of a list have the same total. */
  readonly totals: Cache<Total>
  /** Current time, in milliseconds since the epoch. */
  readonly now: () => number
  /** Called when a file, a feed or a list leaves out an agent that cannot be shown there. */
  readonly leftOut: (place: string, fid: number, cause: unknown) => void
}

export interface Total {
  readonly total: number
  /** JSON array of counts by group, if totals of several filters are sums over these groups; absent otherwise. */
  readonly groups?: string
  /** Number of the newest change of any agent at the time of the count; absent where it does not matter. */
  readonly change?: number
  readonly bytes: number
}

/** What a request takes and how it is answered. */
export interface Operation<P extends z.ZodObject = z.ZodObject, Q extends z.ZodObject = z.ZodObject> {
  /** Path template as in OpenAPI, with `{name}` for a parameter. Also the first part of its cache keys. */
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly params: P
  readonly query: Q
  /** Body of a 200: its media type, schema and description. */
  readonly answer: { readonly type: string; readonly schema: z.ZodType; readonly description: string }
  /** Error codes it can answer with, besides those of every metered request (api/docs/openapi.ts). */
  readonly errors: readonly ErrorCode[]
}

/** A GET that reads: what it takes, what it gives, for how long. */
export interface Route<P extends z.ZodObject = z.ZodObject, Q extends z.ZodObject = z.ZodObject>
  extends Operation<P, Q> {
  /** `max-age` of a 200, in seconds. */
  readonly maxAgeSeconds: number
  /** How long this process answers without asking the database, in seconds. Never above `maxAgeSeconds`. */
  readonly freshSeconds: number
  /** A number that changes with the answer: when it differs, a new answer is made even if the old one is still fresh. */
  readonly revision?: (sources: Sources) => Promise<number>
  /** Response headers of a 200 and a 304, besides those of every answer. */
  readonly headers?: Readonly<Record<string, string>>
  /** `detail` of the 404, for routes that may have no answer. */
  readonly missing?: string
  /**
   * As a tool of the MCP server (api/mcp): its name, and in a sentence or two when to use it. `untold` parameters are
   * accepted like the others but not described, because every word of a tool costs its user. Absent: it is no tool.
   */
  readonly tool?: { readonly name: string; readonly use: string; readonly untold?: readonly string[] }
  /**
   * Whether it may be asked for signed, with `signed=1` or by Accept (api/http/signed.ts), by who keeps it as evidence.
   * Absent: it may not.
   */
  readonly signable?: true
  /** URI template, over its parameters, of the MCP resource that it is; absent: it is not one. */
  readonly resource?: string
  /** Reads the body, as text or as a page of a list; undefined: answered with 404. */
  readonly read: (input: z.output<P> & z.output<Q>, sources: Sources) => Promise<string | PagedBody | undefined>
}

/** A definition may leave out what a request has none of: parameters in its path, a query, errors of its own. */
type Shortened<D extends Operation, P, Q> = Omit<D, 'params' | 'query' | 'errors'> & {
  readonly params?: P
  readonly query?: Q
  readonly errors?: readonly ErrorCode[]
}

type None = z.ZodObject<Record<never, never>>

/** The type of a route is inferred from its schemas. */
export function route<P extends z.ZodObject = None, Q extends z.ZodObject = None>(
  definition: Shortened<Route<P, Q>, P, Q>,
): Route {
  return { params: z.object({}), query: z.object({}), errors: [], ...definition } as unknown as Route
}

/** A request that writes, or whose answer must not be cached. `D`: dependencies of its handlers. */
export interface Action<D> extends Operation {
  readonly method: 'get' | 'post' | 'delete'
  readonly description: string
  /** Schema of the request headers that it reads; absent: none. */
  readonly headers?: z.ZodObject
  /** Token that it needs in `Authorization`, as a scheme of `tokens` in api/docs/openapi.ts; absent: it needs none. */
  readonly token?: 'webhookToken'
  /** Schema of its JSON body; absent: it takes none. */
  readonly body?: z.ZodType
  /** Its handlers, made once when the service starts. They answer with `Cache-Control: no-store`. */
  readonly serve: (deps: D) => RequestHandler[]
}

/** `/api/agent/:fid`: how Express writes the path. */
export const expressPath = ({ path }: { readonly path: string }) => path.replaceAll(/\{(\w+)\}/g, ':$1')

/** Allowed methods of each path, HEAD in addition to GET; keys are paths as Express writes them. */
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

/** What profiles say about this installation: each chain's registry address, by chain name, and its base URL. */
export function installationOf({ chains, baseUrl }: Pick<Sources, 'chains' | 'baseUrl'>): Installation {
  const registries = Object.entries(chains).map(([name, chain]) => [name, chain.registry.address])
  return { registries: Object.fromEntries(registries), baseUrl }
}
