import { setImmediate } from 'node:timers/promises'
import { type FieldNode, GraphQLError, type GraphQLResolveInfo } from 'graphql'
import type { ChainName } from '../../config/chains.ts'
import { subgraphLimits } from '../../config/limits.protocols.ts'
import type { Queryable } from '../../db/pool.ts'
import { isTooSlow } from '../../db/queries/sql/broken-rows.ts'
import {
  type EntityName,
  entities,
  type Scope,
  type ScopeKind,
  wholeChains,
} from '../../db/queries/subgraph/entities.ts'
import { BadFilter } from '../../db/queries/subgraph/filter.ts'
import { type ListOf, type SubgraphRow, subgraphList } from '../../db/queries/subgraph/list.ts'
import { owners } from './schema.ts'
import { selectedIn } from './wanted.ts'

type Row = Record<string, unknown>

export interface ListArguments {
  readonly first?: number | null
  readonly skip?: number | null
  readonly orderBy?: string | null
  readonly orderDirection?: 'asc' | 'desc' | null
  readonly where?: unknown
}

/**
 * The lists of one request, one after the other, so that each is told how much of what the request may read is left. A list
 * is read when a field asks for it, those of many rows at once; once the request has asked for too much, none is.
 */
export class SubgraphReading {
  readonly #database: Queryable
  readonly #chains: readonly ChainName[]
  readonly #onFailure: (cause: unknown) => void
  readonly #batches = new Map<FieldNode, Batch>()
  /** Resolves when the last list that was asked for is read, and its rows are counted. */
  #turn: Promise<unknown> = Promise.resolve()
  /** What the request is refused for as a whole. */
  #refusal: GraphQLError | undefined
  #lists = 0
  #rows = 0
  #values = 0
  #bytes = 0

  constructor(database: Queryable, chains: readonly ChainName[], onFailure: (cause: unknown) => void) {
    this.#database = database
    this.#chains = chains
    this.#onFailure = onFailure
  }

  /** A list at the root, over the chains of the request. */
  async list(entity: EntityName, given: ListArguments, info: GraphQLResolveInfo): Promise<Row[]> {
    const scopes = { kind: 'chain', rows: wholeChains(this.#chains), each: false } as const
    const rows = await this.#read(entity, scopes, given, info)
    return this.#counted(rows, info)
  }

  /** The row with an id; null: there is none. */
  async one(entity: EntityName, id: string, info: GraphQLResolveInfo): Promise<Row | null> {
    const [row] = await this.list(entity, { first: 1, where: { id } }, info)
    return row ?? null
  }

  /** Rows of the scope that the id of another row names: read together with those of its neighbours. */
  nested(
    entity: EntityName,
    of: EntityName,
    id: string,
    given: ListArguments,
    info: GraphQLResolveInfo,
  ): Promise<Row[]> {
    const { read, scope: kind } = entities[of].ids.id
    const scope = read(id)
    if (scope === undefined || kind === undefined) return Promise.resolve([])
    const node = info.fieldNodes[0] as FieldNode
    const batch = this.#batches.get(node) ?? {
      scopes: new Map(),
      rows: Promise.resolve().then(() => this.#flush(entity, kind, given, info)),
    }
    this.#batches.set(node, batch)
    const key = scope.join(' ')
    const place = batch.scopes.get(key)?.place ?? batch.scopes.size
    batch.scopes.set(key, { place, scope })
    return batch.rows.then((rows) => this.#counted(rows.get(place) ?? [], info))
  }

  async #flush(entity: EntityName, kind: ScopeKind, given: ListArguments, info: GraphQLResolveInfo) {
    const node = info.fieldNodes[0] as FieldNode
    const batch = this.#batches.get(node) as Batch
    this.#batches.delete(node)
    const rows = [...batch.scopes.values()].map(({ scope }) => scope)
    const found = new Map<number, SubgraphRow[]>()
    for (const row of await this.#read(entity, { kind, rows, each: true }, given, info)) {
      const own = found.get(row.scope) ?? []
      own.push(row)
      found.set(row.scope, own)
    }
    return found
  }

  #read(entity: EntityName, scopes: ListOf['scopes'], given: ListArguments, info: GraphQLResolveInfo) {
    const rows = this.#turn.then(() => this.#readNow(entity, scopes, given, info))
    // Whoever waits for the rows counts them, at each of their places, before anything else happens.
    const next = () => setImmediate()
    this.#turn = rows.then(next, next)
    return rows
  }

  async #readNow(entity: EntityName, scopes: ListOf['scopes'], given: ListArguments, info: GraphQLResolveInfo) {
    if (this.#refusal) throw this.#refusal
    if (++this.#lists > subgraphLimits.lists) throw this.#refused(`a request may read ${subgraphLimits.lists} lists`)
    const most = subgraphLimits.rows - this.#rows
    try {
      const rows = await subgraphList(this.#database, {
        entity,
        scopes,
        most,
        wanted: selectedIn(info).wanted,
        mostBytes: subgraphLimits.bytes - this.#bytes,
        where: given.where,
        orderBy: given.orderBy ?? 'id',
        isDescending: given.orderDirection === 'desc',
        first: within('first', given.first ?? subgraphLimits.usualPage, subgraphLimits.pageSize),
        skip: within('skip', given.skip ?? 0, subgraphLimits.skip),
      })
      if (rows === undefined) throw this.#tooMany('bytes')
      if (rows.length > most) throw this.#tooMany('rows')
      return rows
    } catch (cause) {
      throw this.#told(cause)
    }
  }

  /** The same row may stand at many places of an answer, and counts at each. */
  #counted(rows: readonly SubgraphRow[], info: GraphQLResolveInfo): Row[] {
    this.#rows += rows.length
    this.#values += rows.length * selectedIn(info).fields
    this.#bytes += rows.reduce((sum, { bytes }) => sum + bytes, 0)
    if (this.#rows > subgraphLimits.rows) throw this.#tooMany('rows')
    if (this.#values > subgraphLimits.values) throw this.#tooMany('values')
    if (this.#bytes > subgraphLimits.bytes) throw this.#tooMany('bytes')
    return rows.map(({ row }) => row)
  }

  #told(cause: unknown): GraphQLError {
    if (cause instanceof GraphQLError) return cause
    if (cause instanceof BadFilter) return refused(cause.message)
    if (isTooSlow(cause))
      return this.#refused('this takes too long to read: ask for fewer rows, or by a filter that fewer rows fit')
    this.#onFailure(cause)
    return this.#refused('ERR_INTERNAL')
  }

  #refused(message: string): GraphQLError {
    this.#refusal ??= refused(message)
    return this.#refusal
  }

  #tooMany(what: 'rows' | 'values' | 'bytes'): GraphQLError {
    return this.#refused(`an answer may have ${subgraphLimits[what]} ${what} in all: ask for fewer at once`)
  }
}

interface Batch {
  readonly scopes: Map<string, { readonly place: number; readonly scope: Scope }>
  readonly rows: Promise<ReadonlyMap<number, SubgraphRow[]>>
}

const refused = (message: string) => new GraphQLError(message)

function within(name: string, value: number, most: number): number {
  if (value < 0 || value > most) throw refused(`${name} must be from 0 to ${most}`)
  return value
}

/** A row that another belongs to, by its id: read only if more of it is asked for than the id says. */
export async function ownerOf(
  reading: SubgraphReading,
  name: keyof typeof owners,
  id: string,
  info: GraphQLResolveInfo,
): Promise<Row | undefined> {
  const [chainId, agentId] = id.split(':')
  const known = name === 'agent' ? { id, chainId, agentId } : { id }
  if ([...selectedIn(info).wanted.keys()].every((field) => field in known || field === '__typename')) return known
  const [row] = await reading.nested(owners[name], owners[name], id, { first: 1 }, info)
  return row
}
