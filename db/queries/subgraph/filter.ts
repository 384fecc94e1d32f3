import { subgraphLimits } from '../../../config/limits.protocols.ts'
import { lexeme, partOf } from '../directory/query-text.ts'
import type { Acting } from '../registrations/acting.ts'
import { lookedFor } from '../registrations/filters.ts'
import type { Entity, IdField, Scope, ScopeKind } from './entities.ts'
import type { Field, Kind } from './fields.ts'

/** A filter that is refused; the message says what would be right. */
export class BadFilter extends Error {
  override readonly name = 'BadFilter'
}

const equal = ['', 'not', 'in', 'not_in'] as const
const ordered = [...equal, 'gt', 'gte', 'lt', 'lte'] as const
const parts = ['contains', 'contains_nocase', 'not_contains', 'not_contains_nocase'] as const
const ends = ['starts_with', 'starts_with_nocase', 'ends_with', 'ends_with_nocase'] as const

/** How the values of a kind can be compared: ends of the names of filters, as of graph-node. */
const operators: Readonly<Record<Kind | 'id', readonly string[]>> = {
  id: ordered,
  text: [...ordered, ...parts, ...ends],
  bytes: equal,
  integer: ordered,
  decimal: ordered,
  time: ordered,
  flag: equal,
  texts: ['', 'not', ...parts],
  addresses: ['', 'not', ...parts],
}

/** Whether a filter with this operator takes a list of values, of a field of this kind. */
export const takesList = (kind: Kind | 'id', operator: string) =>
  kind === 'texts' || kind === 'addresses' || operator === 'in' || operator === 'not_in'

interface Filtered {
  readonly kind: Kind | 'id'
  readonly operator: string
  readonly field?: Field
  readonly id?: IdField
}

/** Every filter of some fields by its name. */
export function filtersOf(
  fields: Readonly<Record<string, Field>>,
  ids: Readonly<Record<string, IdField>> = {},
): Map<string, Filtered> {
  const all = new Map<string, Filtered>()
  const add = (name: string, kind: Kind | 'id', of: { field?: Field; id?: IdField }) => {
    for (const operator of operators[kind]) all.set(operator ? `${name}_${operator}` : name, { kind, operator, ...of })
  }
  for (const [name, id] of Object.entries(ids)) add(name, 'id', { id })
  for (const [name, field] of Object.entries(fields)) {
    if (!(name in ids)) add(name, field.kind, { field })
  }
  return all
}

type Part =
  | { readonly all: readonly Part[] }
  | { readonly any: readonly Part[] }
  | { readonly name: string; readonly of: Filtered; readonly value: unknown }

export interface Conditions {
  /** Scopes that the rows are in, where the filter names them by id. */
  readonly scopes: { readonly kind: ScopeKind; readonly rows: readonly Scope[] } | undefined
  /** SQL of what else the rows fit. */
  readonly fits: readonly string[]
  /** What an index of registrations can look for; null: nothing of the kind. */
  readonly terms: string | null
  readonly named: string | null
  readonly described: string | null
  readonly rated: string | null
}

type Parameter = (value: unknown, type: string) => string

/**
 * What a filter asks of the rows of an entity. Throws BadFilter. `parameter` adds a value to those of the statement;
 * `mayNarrow`: rows may be asked for by the ids in the filter.
 */
export function conditionsOf(
  entity: Entity,
  where: unknown,
  { parameter, mayNarrow, acting }: { parameter: Parameter; mayNarrow: boolean; acting: Acting },
): Conditions {
  const top = readParts(entity, where, { parts: 0, values: 0 })
  const pinned = mayNarrow ? top.find((part) => namesRows(part, entity)) : undefined
  const others = top.filter((part) => part !== pinned)
  const left = { terms: mostTerms, acting }
  const terms = others.flatMap((part) => termsOf(part, left) ?? [])
  return {
    scopes: pinned && scopesOf(pinned, entity),
    fits: fitsOf(others, parameter),
    terms: terms.length === 0 ? null : terms.join(' & '),
    named: partOfSearched(others, 'name'),
    described: partOfSearched(others, 'description'),
    rated: others.reduce<string | null>((found, part) => found ?? ratedBy(part), null),
  }
}

/** Addresses that registrations are looked for by, as they act for them. Throws BadFilter. */
export function operatorsIn(entity: Entity, where: unknown): string[] {
  const of = (part: Part): string[] => {
    if ('all' in part) return part.all.flatMap(of)
    if ('any' in part) return part.any.flatMap(of)
    return part.of.field?.acts && part.value !== null ? [part.value].flat().map(String) : []
  }
  return readParts(entity, where, { parts: 0, values: 0 }).flatMap(of)
}

/** Whether a part names the rows that there can be, by their ids. */
function namesRows(part: Part, { scopes }: Entity): boolean {
  if (!('of' in part) || !['', 'in'].includes(part.of.operator) || part.value === null) return false
  return part.of.id?.scope !== undefined && part.of.id.scope in scopes
}

function scopesOf(part: Part, { scopes }: Entity): Conditions['scopes'] {
  if (!('of' in part) || part.of.id?.scope === undefined) return undefined
  const { read, scope } = part.of.id
  const rows = [part.value].flat().flatMap((id) => [read(String(id)) ?? []].filter(({ length }) => length > 0))
  return scope in scopes
    ? { kind: scope, rows: [...new Map(rows.map((row) => [row.join(' '), row])).values()] }
    : undefined
}

interface Size {
  parts: number
  values: number
}

/** What can be filtered by: fields of an entity, or of a file of one. */
type Filterable = Pick<Entity, 'fields' | 'files' | 'filtered'> & { readonly ids: Readonly<Record<string, IdField>> }

/** The parts of a filter that all hold. */
function readParts(entity: Filterable, where: unknown, size: Size, depth = 1): Part[] {
  if (depth > subgraphLimits.filterDepth)
    throw new BadFilter(`filters may be nested ${subgraphLimits.filterDepth} deep`)
  const { files } = entity
  const filters = knownFilters(entity)
  return Object.entries((where ?? {}) as Record<string, unknown>).flatMap(([name, value]): Part[] => {
    if (++size.parts > subgraphLimits.filterParts) {
      throw new BadFilter(`a filter may have ${subgraphLimits.filterParts} parts`)
    }
    if (name === 'and' || name === 'or') {
      if (value === null) return []
      const given = [value].flat().map((one): Part => ({ all: readParts(entity, one, size, depth + 1) }))
      return name === 'or' ? [{ any: given }] : given.flatMap((one) => ('all' in one ? one.all : [one]))
    }
    const file = files[name.replace(/_$/, '')]
    if (file && name.endsWith('_')) {
      const inFile: Filterable = { fields: file.fields, ids: {}, files: {} }
      return [{ name, of: existing(file.exists), value: true }, ...readParts(inFile, value, size, depth + 1)]
    }
    const of = filters.get(name)
    if (of === undefined) throw new BadFilter(`there is no filter ${name}`)
    return [{ name, of, value: readValue(name, of, value, size) }]
  })
}

const known = new WeakMap<object, Map<string, Filtered>>()
function knownFilters({ fields, ids, filtered }: Filterable): Map<string, Filtered> {
  const key = 'id' in ids ? ids : fields
  const found = known.get(key) ?? filtersOf({ ...fields, ...filtered }, ids)
  known.set(key, found)
  return found
}

/** That there is a file at all. */
const existing = (sql: string): Filtered => ({
  kind: 'flag',
  operator: '',
  field: { kind: 'flag', sql: `(${sql})` },
})

function readValue(name: string, { kind, operator }: Filtered, value: unknown, size: Size): unknown {
  const isList = takesList(kind, operator)
  if (value === null) {
    if (!['', 'not'].includes(operator)) throw new BadFilter(`${name} must not be null`)
    return null
  }
  const given = [value].flat()
  size.values += given.length
  if (size.values > subgraphLimits.filterValues) {
    throw new BadFilter(`a filter may have ${subgraphLimits.filterValues} values`)
  }
  const read = given.map((one) => readOne(name, kind, one))
  return isList ? read : read[0]
}

const furthest = 253_402_300_799n // the end of the year 9999

function readOne(name: string, kind: Kind | 'id', value: unknown): unknown {
  if (kind === 'flag') return value
  const text = String(value)
  if (value === null || text.includes('\0')) throw new BadFilter(`${name} must have neither null nor NUL in it`)
  if (text.length > subgraphLimits.filterCharacters) {
    throw new BadFilter(`${name} may have ${subgraphLimits.filterCharacters} characters`)
  }
  if (kind === 'bytes' || kind === 'addresses') {
    if (!/^0x([0-9a-f]{2})*$/i.test(text)) throw new BadFilter(`${name} must be 0x and pairs of hex digits`)
    return text.toLowerCase()
  }
  if (kind === 'decimal' && !/^-?[0-9]{1,60}(\.[0-9]{1,30})?$/.test(text)) {
    throw new BadFilter(`${name} must be a decimal number`)
  }
  if (kind !== 'integer' && kind !== 'time') return text
  if (!/^-?[0-9]{1,80}$/.test(text)) throw new BadFilter(`${name} must be an integer`)
  if (kind === 'integer') return text
  const seconds = BigInt(text)
  return String(seconds < 0n ? -1n : seconds > furthest ? furthest : seconds)
}

/** SQL types of values by kind. */
const types = {
  text: 'text',
  bytes: 'text',
  integer: 'numeric',
  decimal: 'numeric',
  time: 'bigint',
  flag: 'boolean',
  texts: 'text',
  addresses: 'text',
} as const

const signs: Readonly<Record<string, string>> = { '': '=', not: '<>', gt: '>', gte: '>=', lt: '<', lte: '<=' }

function sqlOf(part: Part, parameter: Parameter): string {
  if ('all' in part) return joined(part.all, ' and ', 'true', parameter)
  if ('any' in part) return joined(part.any, ' or ', 'false', parameter)
  const { of, value } = part
  if (of.id) return sqlOfId(of.id, of.operator, value, parameter)
  const { kind, sql, searched, begins } = of.field as Field
  if (value === null) return `${sql} is ${of.operator === 'not' ? 'not ' : ''}null`
  const column = kind === 'text' ? `(${sql}) collate "C"` : kind === 'integer' ? `(${sql})::numeric` : sql
  if (kind === 'texts' || kind === 'addresses') return sqlOfList(sql, of.operator, value, parameter)
  if (of.operator === 'in' || of.operator === 'not_in') {
    const any = `(select ${valueSql(kind, 'given')} from unnest(${parameter(value, `${types[kind]}[]`)}) given)`
    return `${column} ${of.operator === 'in' ? 'in' : 'not in'} ${any}`
  }
  const sign = signs[of.operator]
  if (sign !== undefined) {
    const given = valueSql(kind, parameter(value, types[kind]))
    const found = begins && of.operator === '' ? `${begins(given)} and ` : ''
    return `${found}${column} ${sign} ${given}`
  }
  return sqlOfPart({ sql, searched }, of.operator, String(value), parameter)
}

/**
 * SQL of all parts of a filter. The planner takes what is asked of an expression for rare, and of a file, with what is asked of
 * the registration, for so rare that it reads and sorts all rows of a chain for a page of them. Of a `case` it expects every
 * second row to fit.
 */
function fitsOf(parts: readonly Part[], parameter: Parameter): string[] {
  const known: string[] = []
  const unknown: string[] = []
  for (const part of parts) {
    const hasStatistics = 'of' in part && (part.of.id !== undefined || /^[rs]\.\w+$/.test(part.of.field?.sql ?? ''))
    ;(hasStatistics ? known : unknown).push(sqlOf(part, parameter))
  }
  return unknown.length === 0
    ? known
    : [...known, `case when ${unknown.map((one) => `(${one})`).join(' and ')} then true end`]
}

const joined = (all: readonly Part[], by: string, none: string, parameter: Parameter) =>
  all.length === 0 ? none : `(${all.map((one) => sqlOf(one, parameter)).join(by)})`

function valueSql(kind: Kind, value: string): string {
  if (kind === 'time') return `to_timestamp(${value})`
  return kind === 'bytes' ? `decode(substr(${value}, 3), 'hex')` : value
}

function sqlOfPart(
  { sql, searched }: Pick<Field, 'sql' | 'searched'>,
  operator: string,
  value: string,
  parameter: Parameter,
) {
  const isAny = operator.endsWith('_nocase')
  const lower = (text: string) => (isAny ? `lower(${text})` : text)
  const whole = partOf(value)
  const pattern = operator.startsWith('starts')
    ? whole.slice(1)
    : operator.startsWith('ends')
      ? whole.slice(0, -1)
      : whole
  const column = isAny && searched ? `s.${searched}` : lower(sql)
  return `${column} ${operator.startsWith('not_') ? 'not ' : ''}like ${lower(parameter(pattern, 'text'))}`
}

function sqlOfList(sql: string, operator: string, value: unknown, parameter: Parameter): string {
  const given = parameter(value, 'text[]')
  const sign = signs[operator]
  if (sign !== undefined) return `${sql} ${sign} ${given}`
  const lower = (list: string) => `(select coalesce(array_agg(lower(word)), '{}') from unnest(${list}) word)`
  const has = operator.endsWith('_nocase') ? `${lower(sql)} @> ${lower(given)}` : `${sql} @> ${given}`
  return operator.startsWith('not_') ? `not (${has})` : has
}

/** Ids are in the order of chains, then of the numbers in them. */
function sqlOfId({ columns, read }: IdField, operator: string, value: unknown, parameter: Parameter): string {
  if (value === null) return operator === 'not' ? 'true' : 'false'
  const rows = [value].flat().flatMap((id) => [read(String(id)) ?? []].filter(({ length }) => length > 0))
  const isNot = operator.startsWith('not')
  const isOrdered = operator in signs && operator !== '' && !isNot
  if (isOrdered && value === '') return String(operator.startsWith('g')) // where clients begin that walk by id
  if (rows.length === 0) return isNot ? 'true' : 'false'
  const row = `(${columns.join(', ')})`
  const typed = (column: string) =>
    /agent_id|feedback_index/.test(column)
      ? 'numeric'
      : /client$/.test(column)
        ? 'bytea'
        : /log_index/.test(column)
          ? 'bigint'
          : 'text'
  if (isOrdered) {
    const values = columns.map((column, n) => parameter(rows[0]?.[n], typed(column)))
    return `${row} ${signs[operator]} (${values.join(', ')})`
  }
  const lists = columns.map((column, n) =>
    parameter(
      rows.map((one) => one[n]),
      `${typed(column)}[]`,
    ),
  )
  return `${row} ${isNot ? 'not in' : 'in'} (select * from unnest(${lists.join(', ')}))`
}

/** Most values that are looked up as terms, of all parts of a filter: the others are held against the rows that these leave. */
const mostTerms = 100
/** Bytes of a term; longer ones are not in the index. */
const longestTerm = 450
/** The database has other lowercase letters than JavaScript for a few others. */
const isAscii = /^[ -~]*$/

/** A query over terms that every row fits in which this holds; undefined: there is none. */
function termsOf(part: Part, left: { terms: number; readonly acting: Acting }): string | undefined {
  if ('all' in part) {
    const all = part.all.flatMap((one) => termsOf(one, left) ?? [])
    return all.length === 0 ? undefined : `(${all.join(' & ')})`
  }
  if ('any' in part) {
    const any = part.any.map((one) => termsOf(one, left))
    return any.length === 0 || any.includes(undefined) ? undefined : `(${any.join(' | ')})`
  }
  const { of, value } = part
  const { operator, field } = of
  if (!field || operator.startsWith('not_') || (operator === 'not') !== (value === null)) return undefined
  if (field.terms !== undefined) return field.kind === 'flag' && value !== true ? undefined : field.terms
  if (field.acts && value !== null && operator.startsWith('contains')) {
    const found = [value].flat().flatMap((one) => left.acting.get(String(one)) ?? [])
    return found.length === 0 ? undefined : `(${found.map((one) => `(${one})`).join(' & ')})`
  }
  if (!field.term || !['', 'in', 'contains', 'contains_nocase'].includes(operator) || value === null) return undefined
  const words = [value].flat().map((one) => field.term?.(String(one)) as string)
  if (words.length === 0 || words.length > left.terms) return undefined
  if (words.some((word) => !isAscii.test(word) || word.length > longestTerm)) return undefined
  left.terms -= words.length
  return `(${words.map(lexeme).join(operator === 'in' ? ' | ' : ' & ')})`
}

function partOfSearched(all: readonly Part[], searched: 'name' | 'description'): string | null {
  for (const part of all) {
    if (!('of' in part) || part.of.field?.searched !== searched || typeof part.value !== 'string') continue
    const found = /^(contains|starts_with|ends_with)_nocase$/.test(part.of.operator) ? lookedFor(part.value) : null
    if (found !== null) return found
  }
  return null
}

/** The least feedback that a row has in which this holds. */
function ratedBy(part: Part): string | null {
  if (!('of' in part) || !/^totalFeedback(_gte|_gt)?$/.test(part.name) || part.value === null) return null
  const least = BigInt(String(part.value)) + (part.of.operator === 'gt' ? 1n : 0n)
  return least >= 1n && least < 2n ** 63n ? String(least) : null
}
