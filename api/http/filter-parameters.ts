import { z } from 'zod'

// Filters that came after the first ones: one that cannot be read matches nothing, as everybody's sums in place of one
// payer's would be wrong in somebody's books.

/** Of a filter that matches nothing. No symbol: cache keys are JSON, which would lose it. */
const nothing = { matches: 'nothing' } as const
export type Filter<T> = T | null | typeof nothing

/** Null: it is not there, or empty. */
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
export const selectorFilter = (description: string) => hexFilter(8, description)

/** Dollars, at most six decimals and 18 digits before them. */
export const dollarsFilter = (description: string) => {
  const pattern = '^[0-9]{1,18}(\\.[0-9]{1,6})?$'
  const form = new RegExp(pattern)
  return filterParameter((text) => (form.test(text) ? text : nothing), description, { type: 'string', pattern })
}

/** Base units of dollars, as digits. */
export function baseUnits(dollars: string): string {
  const [whole = '0', decimals = ''] = dollars.split('.')
  return String(BigInt(whole + decimals.padEnd(6, '0')))
}

const zoned = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2})$/

/** ISO 8601 with a zone, from 1970 to 9999; in milliseconds from here on. */
export const timeFilter = (description: string) =>
  filterParameter(
    (text) => {
      const ms = zoned.test(text) ? Date.parse(text) : Number.NaN
      return ms >= 0 && ms < 253_402_300_800_000 ? new Date(ms).toISOString() : nothing
    },
    description,
    { type: 'string', format: 'date-time' },
  )

/** `true` or `false`. */
export const flagFilter = (description: string) =>
  filterParameter((text) => (text === 'true' ? true : text === 'false' ? false : nothing), description, {
    type: 'string',
    enum: ['true', 'false'],
  })

/** Filters that can be asked for; undefined: one of them matches nothing. */
export function askable<T extends Record<string, unknown>>(
  filters: T,
): { [K in keyof T]: Exclude<T[K], typeof nothing> } | undefined {
  return Object.values(filters).includes(nothing) ? undefined : (filters as never)
}
