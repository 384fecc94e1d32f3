import { type ChainName, findChain } from '../../chains.config.ts'
import type { Chain } from '../../chains.row.ts'
import { profileLimits } from '../../limits.config.ts'
import { shortText } from './content.ts'

/** Price of one thing for sale, as its seller states it, unverified. Texts are clean and bounded; null: not stated. */
export interface Price {
  /** What is sold: an address, or a method and a path. */
  readonly resource: string | null
  readonly description: string | null
  /** Scheme of x402: `exact`, `upto` (the amount is a maximum) and others. */
  readonly scheme: string | null
  /** Network as declared, such as eip155:8453 or base; `chain`: the chain of the table that it means, null: none. */
  readonly network: string | null
  readonly chain: ChainName | null
  /** An address in lowercase. */
  readonly asset: string | null
  /** Base units of the asset, digits. */
  readonly amount: string | null
  /** An address in lowercase. */
  readonly payTo: string | null
  /** Dollars, six decimals at most; null: not known. */
  readonly minUsd: string | null
  readonly maxUsd: string | null
}

const { pricesOfDocument: mostPrices } = profileLimits
/** Things for sale, operations and ways to pay that are looked at for them. */
const mostRead = 2_000

/**
 * The prices that a document or a challenge names; none: it names none. Never throws.
 *
 * Source: x402 specification v2, 5.1 (PaymentRequired) and 8 (discovery), and v1, which has `maxAmountRequired`;
 * `x-payment-info` of operations, as x402scan reads it from OpenAPI descriptions.
 */
export function pricesIn(document: unknown): Price[] {
  const { resources, items, paths } = fieldsOf(document)
  const found: Price[] = []
  let left = mostRead
  for (const price of all()) {
    if (price !== undefined) found.push(price)
    if (found.length >= mostPrices || --left <= 0) break
  }
  return found

  function* all() {
    yield* waysToPay(document)
    for (const thing of [...listOf(resources), ...listOf(items)]) yield* waysToPay(thing)
    yield* operations(paths)
  }
}

/** A price with its dollars, where it is in a dollar token of its chain. */
export function inDollars(price: Price, chains: Readonly<Record<ChainName, Pick<Chain, 'tokens'>>>): Price {
  const { chain, asset, amount, scheme } = price
  const tokens = (chain !== null && chains[chain]?.tokens) || []
  if (amount === null || !tokens.some(({ address }) => address === asset)) return price
  const digits = amount.padStart(7, '0')
  const usd = `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/^0+(?=\d)/, '')
  return { ...price, minUsd: scheme === 'upto' ? null : usd, maxUsd: usd }
}

/** What a thing for sale, or a challenge, accepts; undefined beside a price: nothing is asked for there. */
function* waysToPay(thing: unknown): Generator<Price | undefined> {
  const { resource, url, path, description, accepts, price } = fieldsOf(thing)
  const about = fieldsOf(resource)
  const sold = {
    resource: shortText(resource) ?? shortText(about.url) ?? shortText(url) ?? shortText(path),
    description: shortText(description) ?? shortText(about.description),
  }
  yield undefined // one more was looked at
  const ways = listOf(accepts)
  for (const way of ways.length > 0 ? ways : [{ price }]) yield priceOf(way, sold)
}

function priceOf(way: unknown, sold: Pick<Price, 'resource' | 'description'>): Price | undefined {
  const { scheme, network, asset, payTo, amount, maxAmountRequired, price, resource, description } = fieldsOf(way)
  const usd = dollarsOf(price)
  const units = unitsOf(amount ?? maxAmountRequired)
  if (usd === null && units === null) return undefined
  const named = shortText(network)
  return {
    resource: shortText(resource) ?? sold.resource,
    description: shortText(description) ?? sold.description,
    scheme: shortText(scheme),
    network: named,
    chain: named === null ? null : (findChain(named.replace(/^eip155:/, '')) ?? null),
    asset: addressText(asset),
    amount: units,
    payTo: addressText(payTo),
    minUsd: usd,
    maxUsd: usd,
  }
}

const methods = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace']

/** What operations of an OpenAPI description cost; undefined: one of them costs nothing that is said. */
function* operations(paths: unknown): Generator<Price | undefined> {
  for (const [path, item] of Object.entries(fieldsOf(paths))) {
    for (const [method, operation] of Object.entries(fieldsOf(item))) {
      if (!methods.includes(method)) continue
      const { 'x-payment-info': info, summary } = fieldsOf(operation)
      yield info === undefined ? undefined : operationPrice(info, `${method.toUpperCase()} ${path}`, summary)
    }
  }
}

/** The price of an operation, in either of two forms: {price: {mode, currency, amount, min, max}} and {price, minPrice, maxPrice}. */
function operationPrice(info: unknown, resource: string, summary: unknown): Price | undefined {
  const { price, minPrice, maxPrice } = fieldsOf(info)
  const { currency = 'USD', amount, min, max } = fieldsOf(price)
  if (currency !== 'USD') return undefined
  const fixed = dollarsOf(amount ?? price)
  const minUsd = fixed ?? dollarsOf(min ?? minPrice)
  const maxUsd = fixed ?? dollarsOf(max ?? maxPrice)
  if (minUsd === null && maxUsd === null) return undefined
  const sold = { resource: shortText(resource), description: shortText(summary) }
  return { ...sold, scheme: null, network: null, chain: null, asset: null, amount: null, payTo: null, minUsd, maxUsd }
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

function addressText(value: unknown): string | null {
  const text = typeof value === 'string' ? shortText(value) : null
  return text !== null && /^0x[0-9a-f]{40}$/i.test(text) ? text.toLowerCase() : text
}

/** Decimal digits of a number of base units, at most 256 bits; null: it is not one. */
function unitsOf(value: unknown): string | null {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && /^\d{1,78}$/.test(text) ? text.replace(/^0+(?=\d)/, '') : null
}

/** `0.01` or `$0.01`; what is finer than a millionth is no price. */
function dollarsOf(value: unknown): string | null {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && /^\$?\d{1,12}(\.\d{1,6}0*)?$/.test(text) && text.length <= longestDollars
    ? text.replace('$', '')
    : null
}

const longestDollars = 40
