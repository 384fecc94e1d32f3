import { subgraphLimits } from '../../../config/limits.protocols.ts'
import type { Queryable } from '../../pool.ts'
import { type Acting, actingTerms } from '../registrations/acting.ts'
import { hex } from '../sql/json-text.ts'
import {
  type Entity,
  type EntityName,
  entities,
  type Order,
  type Scope,
  type ScopeKind,
  scopeColumns,
} from './entities.ts'
import type { Field } from './fields.ts'
import { type Conditions, conditionsOf, operatorsIn } from './filter.ts'

/** What of a row is asked for: names of its fields, and of those of a file of it. */
export type Wanted = ReadonlyMap<string, Wanted>

export interface ListOf {
  readonly entity: EntityName
  readonly wanted: Wanted
  /** `each`: a list for each scope; otherwise one list of all. */
  readonly scopes: { readonly kind: ScopeKind; readonly rows: readonly Scope[]; readonly each: boolean }
  readonly where: unknown
  readonly orderBy: string
  readonly isDescending: boolean
  readonly first: number
  readonly skip: number
  /** Rows at most, over all lists. */
  readonly most: number
  /** Bytes of all rows at most. */
  readonly mostBytes: number
}

export interface SubgraphRow {
  /** Which scope it is of, from 0. */
  readonly scope: number
  /** The fields that are wanted, and its id. */
  readonly row: Record<string, unknown>
  /** Bytes of it as JSON. */
  readonly bytes: number
}

/**
 * Rows of lists, in their order; one more than `most` says that there are too many, and undefined that they are more than
 * `mostBytes`. Throws BadFilter.
 */
export async function subgraphList(db: Queryable, list: ListOf): Promise<SubgraphRow[] | undefined> {
  const acting = await actingTerms(db, operatorsIn(entities[list.entity], list.where))
  for (const way of ['walk', 'lookup'] as const) {
    const statement = statementOf(list, way, acting)
    const found = statement && (await read(db, statement))
    if (found?.complete) return found.rows ?? undefined
  }
  const { rows } = await read(db, statementOf(list, 'scan', acting) as Statement)
  return rows ?? undefined
}

/**
 * How registrations of a chain are found: among the first ones along the order, which fills a page where many fit; by index,
 * all that fit; or along the order to its end.
 */
type Way = 'walk' | 'lookup' | 'scan'

interface Statement {
  readonly text: string
  readonly values: unknown[]
}

async function read(db: Queryable, statement: Statement) {
  // Unnamed: planned with its values, as rare and common ones want other plans.
  const { rows } = await db.query<{ rows: SubgraphRow[] | null; complete: boolean }>(statement)
  return rows[0] as { rows: SubgraphRow[] | null; complete: boolean }
}

/**
 * Each scope is read along its order as far as the page goes, and then the scopes are merged. Unless it is a scan, places
 * of registrations are found before, which alone are read, and `complete` says whether others would make another page;
 * undefined: there is no such way.
 */
function statementOf(list: ListOf, way: Way, acting: Acting): Statement | undefined {
  const entity: Entity = entities[list.entity]
  const values: unknown[] = []
  const parameter = (value: unknown, type: string) => `$${values.push(value)}::${type}`
  const conditions = conditionsOf(entity, list.where, { parameter, mayNarrow: list.scopes.kind === 'chain', acting })
  const by = list.isDescending ? 'desc' : 'asc'
  const ordered = (sql: readonly string[]) => sql.map((one) => `${one} ${by}`).join(', ')
  const first = parameter(list.first, 'int')
  const skip = parameter(list.skip, 'int')
  const places = way === 'scan' ? undefined : placesOf(way, list, { conditions, parameter, ordered })
  if (way !== 'scan' && places === undefined) return undefined
  const { kind, rows, each } = narrowed(list.scopes, conditions.scopes)
  const columns = scopeColumns[kind]
  const lists = columns.map((name, n) =>
    parameter(
      rows.map((row) => row[n]),
      `${columnTypes[name]}[]`,
    ),
  )
  const fits = [
    entity.scopes[kind] as string,
    // Nothing is read by what was looked up if it is not all that fits.
    ...(way === 'lookup' ? [areAll] : []),
    ...(places === undefined ? [] : ['s.ctid = any ((select places from matched)::tid[])']),
    ...conditions.fits,
  ]
  const { key, within } = orderOf(entity, list.orderBy, kind)
  const names = (of: string, sql: readonly string[]) => sql.map((_, n) => `${of}${n}`)
  const named = (of: string, sql: readonly string[]) => sql.map((one, n) => `${one} as ${of}${n}`)
  const merged = ordered(['key', 'k0', ...names('o', within)])
  const text = `
with ${places === undefined ? '' : `matched as materialized (select array(${places}) as places),`}
page as (
  select scope.n - 1 as scope, its.*, row_number() over (order by ${each ? 'scope.n, ' : ''}${merged}) as place
    from unnest(${lists.join(', ')}) with ordinality as scope (${columns.join(', ')}, n)
   cross join lateral (
     select ${[...named('k', entity.key), `${key} as key`, ...named('o', within)].join(', ')}
       from ${entity.rows}
      where ${fits.map((one) => `(${one})`).join('\n        and ')}
      order by ${ordered(within)}
      limit ${each ? `${first} offset ${skip}` : `${first} + ${skip}`}) its
   order by place
   limit ${each ? parameter(list.most + 1, 'int') : `${first} offset ${skip}`}
)
select case when coalesce(sum(one.bytes), 0) <= ${parameter(list.mostBytes, 'bigint')} then
         coalesce(json_agg(json_build_object('scope', page.scope, 'row', one.object, 'bytes', one.bytes) order by page.place), '[]')
       end as rows,
       ${complete[way](first)} as complete
  from page
 cross join lateral (
   select its.object, octet_length(its.object::text) as bytes
     from (select ${objectOf(entity, list.wanted)} as object
             from ${entity.rows}
            where ${entity.key.map((sql, n) => `${sql} = page.k${n}`).join(' and ')}
           offset 0) its) one`
  return { text, values }
}

const areAll = `(select cardinality(places) < ${subgraphLimits.matched} from matched)`
/** SQL: whether the page is the one that a scan would find. */
const complete: Readonly<Record<Way, (first: string) => string>> = {
  walk: (first) => `((select count(*) from page) = ${first})`,
  lookup: () => areAll,
  scan: () => 'true',
}

const columnTypes = {
  chain: 'text',
  agent_id: 'numeric',
  client: 'bytea',
  feedback_index: 'numeric',
  key: 'text',
} as const

/** The scopes that a filter names, as far as they are in the chains of the list. */
function narrowed(of: ListOf['scopes'], named: Conditions['scopes']): ListOf['scopes'] {
  if (!named) return of
  const chains = new Set(of.rows.map(([chain]) => chain))
  return { kind: named.kind, rows: named.rows.filter(([chain]) => chains.has(chain)), each: false }
}

function orderOf({ orders }: Entity, name: string, kind: ScopeKind) {
  const { key, within } = orders[name] as Order
  const columns = 'chain' in within ? (within[kind] ?? within.chain) : (within as readonly string[])
  return { key, within: columns as readonly string[] }
}

interface Placing {
  readonly conditions: Conditions
  readonly parameter: (value: unknown, type: string) => string
  readonly ordered: (sql: readonly string[]) => string
}

/** SQL: places of the registrations that are read; undefined: not in this way. */
function placesOf(
  way: 'walk' | 'lookup',
  list: ListOf,
  { conditions, parameter, ordered }: Placing,
): string | undefined {
  const { entity, scopes, first, skip, orderBy } = list
  const { terms, named, described, rated, scopes: narrow } = conditions
  const isOfRegistrations = entity === 'Agent' || entity === 'AgentRegistrationFile'
  if (!isOfRegistrations || scopes.kind !== 'chain' || narrow) return undefined
  if ([terms, named, described, rated].every((one) => one === null)) return undefined
  const [chain, ...others] = scopes.rows
  if (way === 'walk') {
    if (entity !== 'Agent' || others.length > 0) return undefined
    const { within } = orderOf(entities[entity], orderBy, 'chain')
    return `select s.ctid from searched_registration s where s.chain = ${parameter(chain?.[0], 'text')}
             order by ${ordered(within)} limit ${parameter(walkedFor(first + skip), 'int')}`
  }
  const ofChain = terms !== null && others.length === 0 ? ` & '${`chain:${chain?.[0]}`}'` : ''
  const wanted = parameter(terms && `${terms}${ofChain}`, 'tsquery')
  return `select * from registrations_matching(${wanted}, lower(${parameter(named, 'text')}), lower(${parameter(described, 'text')}),
                                    ${parameter(rated, 'bigint')}, ${subgraphLimits.matched})`
}

/** Registrations that are looked at for so many rows before any index is asked. */
const walkedFor = (rows: number) => Math.min(3 * rows + 200, subgraphLimits.matched)

/** SQL: the wanted fields of a row, as JSON. */
function objectOf({ fields, ids, files }: Entity, wanted: Wanted): string {
  const idMembers = Object.entries(ids).flatMap(([name, { shown }]) =>
    name === 'id' || wanted.has(name) ? [`'${name}', ${shown}`] : [],
  )
  const members = membersOf(fields, wanted).filter(([name]) => !(name in ids))
  const fileMembers = Object.entries(files).flatMap(([name, { exists, fields: own }]) => {
    const inside = wanted.get(name)
    return inside
      ? [`'${name}', case when ${exists} then json_build_object(${textOf(membersOf(own, inside))}) end`]
      : []
  })
  return `json_build_object(${[...idMembers, ...(members.length > 0 ? [textOf(members)] : []), ...fileMembers].join(', ')})`
}

const membersOf = (fields: Readonly<Record<string, Field>>, wanted: Wanted) =>
  Object.entries(fields).filter(([name]) => wanted.has(name))
const textOf = (members: [string, Field][]) => members.map(([name, field]) => `'${name}', ${shownOf(field)}`).join(', ')

function shownOf({ kind, sql, shown }: Field): string {
  if (shown !== undefined) return shown
  if (kind === 'bytes') return hex(sql)
  if (kind === 'integer') return `(${sql})::text`
  if (kind === 'decimal') return `trim_scale(${sql})::text`
  if (kind === 'time') return `extract(epoch from ${sql})::bigint::text`
  return kind === 'texts' || kind === 'addresses' ? `to_json(${sql})` : sql
}
