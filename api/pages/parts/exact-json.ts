import type { z } from 'zod'
import type { profile } from '../../schemas/agents/profile.ts'
import type { settlement } from '../../schemas/settlements/settlement.ts'

/** Fields whose numbers are wider than a JavaScript number, or exact decimals: kept as the text they are sent as. */
const exactNames = [
  'erc8004_id',
  'amount_usdc',
  'filtered_amount_usdc',
  'median_usdc',
  'volume_usdc',
  'income_usdc',
  'min_amount_usd',
  'max_amount_usd',
  'value',
  'median',
] as const
type ExactField = (typeof exactNames)[number]
const exactFields: ReadonlySet<string> = new Set(exactNames)

/** An answer of the API with the exact fields as text instead of numbers. */
export type Exact<T> = T extends object
  ? { readonly [K in keyof T]: K extends ExactField ? string | Extract<T[K], null> : Exact<T[K]> }
  : T

/** Parses an answer of the API without checking `T`: answers are tested against their schemas elsewhere. */
export function parseAnswer<T>(text: string): Exact<T> {
  return JSON.parse(text, keepExact as (key: string, value: unknown) => unknown) as Exact<T>
}

// The third argument, with the source text of the number, is newer than TypeScript's types.
function keepExact(key: string, value: unknown, { source }: { source?: string }): unknown {
  return exactFields.has(key) && typeof value === 'number' ? (source ?? String(value)) : value
}

// Answers of the API as pages read them.

export type Profile = Exact<z.output<typeof profile>>
export type Settlement = Exact<z.output<typeof settlement>>
