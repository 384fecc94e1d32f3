import type { z } from 'zod'
import type { ChainName } from '../../chains.config.ts'
import type { ChainSettings } from '../../chains.file.ts'
import type { Queryable } from '../../db/pool.ts'
import type { Cache } from './cache.ts'
import type { PagedBody } from './cursor.ts'
import type { ErrorCode } from './errors.ts'

/** What a read needs. */
export interface Sources {
  readonly database: Queryable
  readonly chains: Readonly<Record<ChainName, Pick<ChainSettings, 'registry'>>>
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
  /** Number of the newest change of an agent when it was counted, where that matters. */
  readonly change?: number
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
  readonly read: (input: z.output<P> & z.output<Q>, sources: Sources) => Promise<string | PagedBody | undefined>
}

/** The type of a route is inferred from its schemas. */
export function route<P extends z.ZodObject, Q extends z.ZodObject>(definition: Route<P, Q>): Route {
  return definition as unknown as Route
}

export const json = 'application/json; charset=utf-8'

export function registryAddresses(chains: Sources['chains']): Record<ChainName, string> {
  return Object.fromEntries(Object.entries(chains).map(([name, chain]) => [name, chain.registry.address])) as never
}
