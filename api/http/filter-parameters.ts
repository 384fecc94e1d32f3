import { z } from 'zod'
import { type ChainName, chainNames, chainOf, findChain } from '../../config/chains.ts'
import { queryLimits } from '../../config/limits.ts'
import { isDay } from '../../ops/time.ts'

// Filters that match nothing when they cannot be read, where those of parameters.ts are ignored: sums over everybody
// instead of one payer would put wrong numbers into somebody's books.

/** The value of a filter that cannot be read, and so matches no row. Not a symbol: cache keys are JSON, which would lose it. */
const nothing = { matches: 'nothing' } as const
type Filter<T> = T | null | typeof nothing

/** A filter of a single value, the first if repeated. Null: not given or empty, so no filter. */
function filterParameter<T>(read: (text: string) => T | typeof nothing, description: string, schema: object) {
  return z
    .unknown()
    .optional()
    .transform((value): Filter<T> => {
      const text = Array.isArray(value) ? value[0] : value
      if (text === undefined || text === '') return null
      return typeof text === 'string' ? read(text) : nothing
    })
    .meta({ description: `${description} One that cannot be read matches nothing.`, override: schema })
}

const hexFilter = (digits: number, description: string) => {
  const pattern = `^0x[0-9a-fA-F]{${digits}}$`
  const form = new RegExp(pattern)
  return filterParameter((text) => (form.test(text) ? text.toLowerCase() : nothing), description, {
    type: 'string',
    pattern,
  })
}

export const addressFilter = (description: string) => hexFilter(40, description)
export const hashFilter = (description: string) => hexFilter(64, description)
export const selectorFilter = (description: string) => hexFilter(8, description)

/** An amount in dollars, kept as text: up to 18 digits, then up to six decimals. */
export const dollarsFilter = (description: string) => {
  const pattern = '^[0-9]{1,18}(\\.[0-9]{1,6})?$'
  const form = new RegExp(pattern)
  return filterParameter((text) => (form.test(text) ? text : nothing), description, { type: 'string', pattern })
}

/** A number with up to 18 digits on either side of the point, kept as text. */
export const numberFilter = (description: string) => {
  const pattern = '^-?[0-9]{1,18}(\\.[0-9]{1,18})?$'
  const form = new RegExp(pattern)
  return filterParameter((text) => (form.test(text) ? text : nothing), description, { type: 'string', pattern })
}

/** An amount in dollars as base units of 10^-6 dollars, in decimal digits. */
export function baseUnits(dollars: string): string {
  const [whole = '0', decimals = ''] = dollars.split('.')
  return String(BigInt(whole + decimals.padEnd(6, '0')))
}

const zoned =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2})T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,3}([0-9]{0,6}))?)?(?:Z|[+-][0-9]{2}:[0-9]{2})$/

/**
 * An ISO 8601 time with a zone, up to 9999; parsed to ISO 8601 in UTC with milliseconds. One before 1970, when nothing
 * had happened yet, is taken as 1970. A blank before the offset was a `+` that its sender did not escape.
 */
function timeOf(given: string, finer: 'cut' | 'up'): string | typeof nothing {
  const text = given.replace(/ (?=[0-9]{2}:[0-9]{2}$)/, '+')
  const [, day = '', digits = ''] = zoned.exec(text) ?? []
  const ms = isDay(day) ? Date.parse(text) + Number(finer === 'up' && /[1-9]/.test(digits)) : Number.NaN
  return ms < 253_402_300_800_000 ? new Date(Math.max(ms, 0)).toISOString() : nothing
}

const timeSchema = { type: 'string', format: 'date-time' }

/** A bound on rows, whose times are whole milliseconds: between two of them it means the later one. */
export const timeFilter = (description: string) =>
  filterParameter((text) => timeOf(text, 'up'), description, timeSchema)

/** A moment that is asked about: between two milliseconds, what was so at the earlier one. */
export const momentFilter = (description: string) =>
  filterParameter((text) => timeOf(text, 'cut'), description, timeSchema)

/** A boolean: `true` or `false`. */
export const flagFilter = (description: string) =>
  filterParameter((text) => (text === 'true' ? true : text === 'false' ? false : nothing), description, {
    type: 'string',
    enum: ['true', 'false'],
  })

/** A text of at most so many characters, taken whole. */
export const textFilter = (most: number, description: string) =>
  filterParameter((text) => ([...text].length <= most && !text.includes('\0') ? text : nothing), description, {
    type: 'string',
    maxLength: most,
  })

/** A decimal number of up to 39 digits before the point and 18 behind, kept as text. */
export const decimalFilter = (description: string) => {
  const pattern = '^-?[0-9]{1,39}(\\.[0-9]{1,18})?$'
  const form = new RegExp(pattern)
  return filterParameter((text) => (form.test(text) ? text : nothing), description, { type: 'string', pattern })
}

/** One chain, by label, name or id in any case. */
export const chainFilter = (description: string) =>
  filterParameter<ChainName>((text) => findChain(text) ?? nothing, description, {
    type: 'string',
    enum: chainNames.map((name) => chainOf(name).label),
  })

/** A non-negative integer of up to 15 digits, kept as text. */
export const countFilter = (description: string) =>
  filterParameter((text) => (/^[0-9]{1,15}$/.test(text) ? text : nothing), description, { type: 'integer', minimum: 0 })

const textsOf = (value: unknown) => [value].flat().filter((text) => typeof text === 'string' && text !== '') as string[]

/** Any of a few words; unknown ones match nothing. Null: no filter. */
export function wordsFilter<const W extends string>(words: readonly W[], description: string) {
  return z
    .unknown()
    .optional()
    .transform((value): W[] | null => {
      const given = textsOf(value)
      return given.length === 0 ? null : words.filter((word) => given.includes(word))
    })
    .meta({
      description: `${description} Several combine with OR; an unknown one matches nothing.`,
      override: { type: 'array', items: { type: 'string', enum: [...words] } },
    })
}

/** Any of some names, in any case; parsed to lowercase, sorted, each once. Null: no filter. */
export const namesFilter = (description: string) => anyOf(description, (text) => text.toLowerCase())

/** Any of some texts as they are given; sorted, each once. Null: no filter. */
export const textsFilter = (description: string) => anyOf(description, (text) => text)

/** A part of a text, trimmed and without control characters. */
export const partFilter = (description: string) =>
  filterParameter<string>((text) => cleanName(text) || nothing, description, {
    type: 'string',
    maxLength: queryLimits.nameCharacters,
  })

const cleanName = (text: string) =>
  [...text.replace(/\p{Cc}/gu, '').trim()].slice(0, queryLimits.nameCharacters).join('')

const anyOf = (description: string, spelled: (text: string) => string) =>
  z
    .unknown()
    .optional()
    .transform((value): string[] | null => {
      const given = textsOf(value).map(cleanName)
      return given.length === 0 ? null : [...new Set(given.slice(0, queryLimits.names).map(spelled))].sort()
    })
    .meta({
      description: `${description} Several combine with OR.`,
      override: {
        type: 'array',
        items: { type: 'string', maxLength: queryLimits.nameCharacters },
        maxItems: queryLimits.names,
      },
    })

/** The filters, if all of them could be read; undefined: one could not, so that no row matches. */
export function askable<T extends Record<string, unknown>>(
  filters: T,
): { [K in keyof T]: Exclude<T[K], typeof nothing> } | undefined {
  return Object.values(filters).includes(nothing) ? undefined : (filters as never)
}
