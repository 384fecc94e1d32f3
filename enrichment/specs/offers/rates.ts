import { shortText } from '../content.ts'
import { isCurrency, isOfUse, type Money } from './money.ts'
import { type Members, membersOf } from './spellings.ts'

/** What things are priced by, as these objects say it next to their prices: a unit, a number of them, a time. */
export function unitsIn(...objects: readonly (Members | undefined)[]): readonly string[] {
  return objects.flatMap((members) => {
    const models = (members?.all('model') ?? []).filter((one) => typeof one === 'string' && ofTime.test(one))
    return [...(members?.all('per') ?? []), ...models].flatMap((one) => textOf(one) ?? [])
  })
}

const ofTime = /^(per[\s_-]\p{L}|(hour|dai|week|month|quarter|year|annual)ly|annual|subscription)/iu

/** Undefined: it is for one, of whatever stands next to it. */
function textOf(value: unknown): string | undefined {
  // What an object says by other keys is not known, and no single use.
  if (typeof value === 'object') return unitsIn(membersOf(value)).join(' ') || 'unit'
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const text = shortText(String(value))?.replace(/^(?:per[\s_-]+|\/\s*|1\s+)+/i, '')
  return text === '1' ? undefined : text || undefined
}

/** What the price of an object is for, unless that is a single use; `around`: the rate of the enclosing object. */
export function rateOf(units: readonly string[], around: string | null): string | null {
  const others = units.filter((one) => !isCurrency(one))
  if (others.length === 0) return around
  return others.every(isOfUse) ? null : shortText(others.join(' '))
}

/** Money as the price of more than one use, as a text and without dollars. */
export function rated<M extends Money>(money: M, rate: string | null): M {
  const { minUsd, maxUsd } = money
  const isInDollars = minUsd !== null || maxUsd !== null
  // The unit may be what the price is in, or the text may say already what it is for.
  const isSaid = rate?.toLowerCase() === money.currency?.toLowerCase() || !/^[\d.-]+$/.test(money.amount ?? '')
  if (rate === null || (isSaid && !isInDollars)) return money
  const range = minUsd === maxUsd ? minUsd : `${minUsd ?? ''}-${maxUsd ?? ''}`
  const amount = shortText(`${isInDollars ? range : money.amount} ${part.test(rate) ? '' : 'per '}${rate}`)
  const currency = isInDollars ? 'USD' : (money.currency ?? 'base units')
  return { ...money, amount, currency, minUsd: null, maxUsd: null }
}

/** Parts of a currency: `5 cents`. */
const part =
  /^(cents?|credits?|points?|sats?|satoshis?|g?wei|lamports?|atomic|minor|micro|base[ _-]?units?|atomic[ _-]?units?)$/i

/** Whether a unit may be what a price is in. */
export const isSymbol = (unit: string) => isCurrency(unit) || part.test(unit) || /^\$?[A-Z][A-Z\d.]{1,9}$/.test(unit)
