import { z } from 'zod'
import { type ChainName, chainNames, chainOf, findChain } from '../../config/chains.ts'
import { queryLimits } from '../../config/limits.ts'
import { ApiError } from './errors.ts'

/** Errors for invalid path parameters, by the parameter's name. */
export const refusals = {
  fid: () => new ApiError('ERR_FID_INVALID', 'fid must be a positive integer in decimal digits'),
  address: () => new ApiError('ERR_ADDRESS_MALFORMED', 'address must be 0x followed by 40 hexadecimal digits'),
} as const

/** Stands for every fid that is too large: nobody has it. */
export const largestFid = Number.MAX_SAFE_INTEGER

/** The path parameter `fid`: decimal digits only. What is too large becomes `largestFid`. */
export const fidParameter = z
  .string()
  .refine((text) => /^[0-9]*[1-9][0-9]*$/.test(text))
  .transform((digits) => Math.min(Number(digits), largestFid))
  .meta({ description: 'The agent’s id in the social network.', override: { type: 'integer', minimum: 1 } })

/** The path parameter `address`: an EVM address in any case, parsed to lowercase. */
export const addressParameter = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .toLowerCase()
  .meta({ description: 'An EVM address in any case.', override: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' } })

/** Value of a scalar query parameter; the first if it is repeated. */
const first = (value: unknown) => (Array.isArray(value) ? value[0] : value)

/** An integer between two bounds: beyond them the nearest one, anything else the fallback. */
export function integerParameter(
  { minimum, maximum, fallback }: { minimum: number; maximum: number; fallback: number },
  description: string,
) {
  return z
    .unknown()
    .optional()
    .transform((value) => {
      const text = first(value)
      if (typeof text !== 'string' || !/^-?[0-9]+$/.test(text)) return fallback
      return Math.min(Math.max(Number(text), minimum), maximum)
    })
    .meta({ description, override: { type: 'integer', minimum, maximum, default: fallback } })
}

/** One of a few words; anything else is the fallback. */
export function wordParameter<const W extends string>(words: readonly W[], fallback: W, description: string) {
  return z
    .unknown()
    .optional()
    .transform((value) => words.find((word) => word === first(value)) ?? fallback)
    .meta({ description, override: { type: 'string', enum: [...words], default: fallback } })
}

const flags = new Map<unknown, boolean>([
  ['true', true],
  ['false', false],
])

/** A boolean, `true` or `false`. Null: anything else, so no filter. */
export function flagParameter(description: string) {
  return z
    .unknown()
    .optional()
    .transform((value) => flags.get(first(value)) ?? null)
    .meta({ description, override: { type: 'string', enum: ['true', 'false'] } })
}

/** Search text, without control characters, trimmed and cut to `queryLimits.characters`. Null: no filter. */
export const textParameter = z
  .unknown()
  .optional()
  .transform((value) => {
    const text = first(value)
    if (typeof text !== 'string') return null
    const clean = [...text.replace(/\p{Cc}/gu, '').trim()].slice(0, queryLimits.characters).join('')
    return clean === '' ? null : clean.trim()
  })
  .meta({
    description:
      'Case-insensitive part of handle, display name or oli; all digits: also the fid; an address: a verified address.',
    override: { type: 'string', maxLength: queryLimits.characters },
  })

/**
 * Chains by label, name or id in any case, sorted as in the chain table. Null: no filter. Unknown values match
 * nothing, so a list of unknown values alone is empty.
 */
export const chainsParameter = z
  .unknown()
  .optional()
  .transform((value): ChainName[] | null => {
    const given = [value].flat().filter((text) => typeof text === 'string' && text !== '') as string[]
    if (given.length === 0) return null
    const wanted = given.map(findChain)
    return chainNames.filter((name) => wanted.includes(name))
  })
  .meta({
    description:
      'Chains, several combine with OR. Of agents those with a current record on one of them, of other rows those of them.',
    override: ({ jsonSchema }) => {
      const labels = chainNames.map((name) => chainOf(name).label)
      Object.assign(jsonSchema, { type: 'array', items: { type: 'string', enum: labels } })
    },
  })

/** The parameter `fields`: names separated by commas; parsed to the order of `names`, with `fid`. Undefined: all. */
export function fieldsParameter(names: readonly string[]) {
  return z
    .unknown()
    .optional()
    .transform((value) => {
      const text = [value].flat()[0]
      if (typeof text !== 'string' || text === '') return undefined
      const wanted = new Set(text.split(',').map((name) => name.trim()))
      return names.filter((name) => name === 'fid' || wanted.has(name))
    })
    .meta({
      description: 'Fields of an agent to send, separated by commas; `fid` always comes. Unknown ones are ignored.',
      override: { type: 'string', examples: ['handle,chains'] },
    })
}
