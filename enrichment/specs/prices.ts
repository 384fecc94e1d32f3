import type { Chain } from '../../config/chains.row.ts'
import { type ChainName, chainNames } from '../../config/chains.ts'
import { documentWork, profileLimits } from '../../config/limits.ts'
import { type ChainIdentities, networkOf, registryOf } from '../networks.ts'
import { shortText } from './content.ts'
import type { SpecKind } from './kinds.ts'
import { boundsOf, isAmbiguous, isTokenSymbol, shifted, unitsOfWhole } from './offers/money.ts'
import { type Resource, resourcesIn } from './offers/resources.ts'
import { combined, fieldsOf, means } from './offers/spellings.ts'
import { noTerms, type Terms } from './offers/terms.ts'
import { type Found, offersIn } from './offers/walk.ts'

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
  /** The network is one for tests; undefined: it is not, or that is not known. */
  readonly testnet?: true
  /** An address in lowercase. */
  readonly asset: string | null
  /** Base units of the asset, digits; with `currency`, what is asked for in it, as written. */
  readonly amount: string | null
  /** What the amount is in, as written, where it is neither base units of the asset nor dollars; undefined: it is. */
  readonly currency?: string
  /** An address in lowercase. */
  readonly payTo: string | null
  /** How x402 moves the asset, as declared; undefined: it is not said, which means EIP-3009. */
  readonly transferMethod?: string
  /**
   * Registration that the seller names as its own: `base:17`, or its CAIP-10 registry and number where that is not indexed;
   * undefined: it names none.
   */
  readonly agent?: string
  /** The key of `payTo` signed it: until when in seconds since 1970, or `always`; undefined: it did not. */
  readonly signedUntil?: string
  /** Another key that may sign for the endpoint signed it instead: its DID URL. */
  readonly signedBy?: string
  /** When this signed offer was first seen, ISO 8601. */
  readonly signedSince?: string
  /** Dollars, six decimals at most; null: not known. */
  readonly minUsd: string | null
  readonly maxUsd: string | null
}

const { pricesOfDocument: mostPrices } = profileLimits

interface Priced {
  readonly prices: readonly Price[]
  /** Whether there are more, or may be. */
  readonly isCut: boolean
}

/**
 * The prices that a document or a challenge names; none: it names none. Never throws.
 *
 * Source: x402 specification v2, 5.1 (PaymentRequired) and 8 (discovery), and v1, which has `maxAmountRequired`;
 * `x-payment-info` and its like of operations, as they are found in OpenAPI descriptions. What documents in use write
 * instead stands in offers/spellings.ts.
 */
export function pricesIn(document: unknown): Priced {
  const found: Price[] = []
  let left = documentWork.places
  const { paths } = fieldsOf(document)
  for (const terms of typeof paths === 'object' ? operations(document, paths) : offersIn(document)) {
    if (terms !== undefined) found.push(...pricesOf(terms))
    if (found.length > mostPrices || --left <= 0) return { prices: found.slice(0, mostPrices), isCut: true }
  }
  return { prices: found, isCut: false }
}

/** A price with the name of the chain whose indexed registry has the agent that it names. */
export function withAgent(price: Price, chains: ChainIdentities): Price {
  const chain = chainNames.find((name) => {
    const identity = chains[name]
    return identity && price.agent?.startsWith(`${registryOf(identity)}:`)
  })
  return chain ? { ...price, agent: `${chain}:${price.agent!.split(':').at(-1)}` } : price
}

/**
 * A price with its dollars, where it is in a dollar token of its chain. What is in something else has none, and what may
 * be in base units or in whole ones neither.
 */
export function inDollars(price: Price, chains: Readonly<Record<ChainName, Pick<Chain, 'tokens'>>>): Price {
  const { chain, network, asset, amount, currency } = price
  const tokens = (chain !== null && chains[chain]?.tokens) || []
  const tokenOf = (text: string) =>
    tokens.find(({ address }) => address === text.toLowerCase()) ?? (isTokenSymbol(text) ? tokens[0] : undefined)
  // x402 takes the dollar token of the network where no asset is named.
  const token = asset === null ? (amount === null ? undefined : tokenOf(currency ?? 'USDC')) : tokenOf(asset)
  if (currency === undefined) {
    if (!token) return capped(price)
    const usd = amount === null ? undefined : shifted(amount, token.decimals)
    const known = { ...price, asset: token.address }
    return capped(usd === undefined ? known : { ...known, minUsd: usd, maxUsd: usd })
  }
  const bounds = amount === null || isAmbiguous.test(amount) ? undefined : boundsOf(amount)
  const isToken = token !== undefined && tokenOf(currency) === token
  if (
    !bounds ||
    !(isToken || (network === null && (asset === null || isTokenSymbol(asset)) && isTokenSymbol(currency)))
  )
    return price
  const dollars = { ...price, minUsd: bounds[0], maxUsd: bounds[1] }
  if (!isToken) return capped(dollars)
  const { currency: _, ...known } = dollars
  const units = bounds[0] === bounds[1] ? unitsOfWhole(amount!, token.decimals) : undefined
  return capped({ ...known, asset: token.address, amount: units ?? null })
}

/** Of a most, no least is known. */
function capped(price: Price): Price {
  return price.scheme === 'upto' ? { ...price, minUsd: null } : price
}

/** The price of each network on which an offer can be paid; none: it names no money. */
function pricesOf({
  money,
  networks,
  agent,
  currency: _,
  bareIsDollars: __,
  mayBeMinor: ___,
  ...rest
}: Terms): Price[] {
  if (money === null) return []
  return (networks.length > 0 ? networks : [null]).map((network) => {
    const { chain, testnet } = network === null ? { chain: null, testnet: null } : networkOf(network)
    const { resource, description, scheme, asset, payTo, transferMethod } = rest
    const { amount, currency, minUsd, maxUsd } = money
    const price = { resource, description, scheme, network, chain, asset, amount, payTo, minUsd, maxUsd }
    return {
      ...price,
      ...(testnet === true && { testnet }),
      ...(currency !== null && { currency }),
      ...(transferMethod !== null && { transferMethod }),
      ...(agent && { agent: `${agent.registry}:${agent.agentId}` }),
    }
  })
}

const methods = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace', 'query']

/** What operations of an OpenAPI description cost; undefined: one more was looked at. */
function* operations(document: unknown, paths: unknown): Found {
  const about = combined(extensionsOf(fieldsOf(document).info), extensionsOf(document))
  for (const [path, item] of Object.entries(fieldsOf(paths))) {
    const ofItem = extensionsOf(item)
    const isSaid = Object.keys(ofItem).length > 0
    for (const [method, operation] of Object.entries(fieldsOf(item))) {
      if (!methods.includes(method)) continue
      yield undefined
      const { summary, responses, 'x-payment-info': info } = fieldsOf(operation)
      const demand = fieldsOf(responses)['402']
      const own = { ...extensionsOf(demand), ...extensionsOf(operation) }
      if (!isSaid && Object.keys(own).length === 0) continue
      const description = shortText(summary)
      const terms = { ...noTerms, description, resource: shortText(`${method.toUpperCase()} ${path}`) }
      yield* offersIn(combined(own, ofItem, about), {
        ...terms,
        bareIsDollars: (info ?? fieldsOf(demand)['x-payment-info']) !== undefined,
      })
    }
  }
}

/** The members of an object that say what it costs, those of its extensions among them. */
function extensionsOf(object: unknown): Record<string, unknown> {
  const members = Object.entries(fieldsOf(object)).filter(([key]) => /^x[-_]/i.test(key))
  const inside = members.filter(([key]) => means(key, 'extension'))
  const said = inside.flatMap(([, one]): [string, unknown][] =>
    Array.isArray(one) ? [['accepts', one]] : typeof one === 'object' ? Object.entries(one ?? {}) : [['price', one]],
  )
  const own = members.flatMap(([key, one]): [string, unknown][] => {
    const plain = key.replace(/^x[-_]/i, '')
    // What is spelt with its prefix stays apart from what stands within an extension.
    return means(key, 'price', 'usd') ? [[key, one]] : means(plain, ...ownMeanings) ? [[plain, one]] : []
  })
  return Object.fromEntries([...own, ...said])
}

/** What an operation says by extensions of its own, besides those that hold all of it. */
const ownMeanings = [
  'price',
  'usd',
  'usdCents',
  'usdc',
  'eur',
  'eth',
  'sol',
  'sats',
  'credits',
  'network',
  'payTo',
  'asset',
  'currency',
  'per',
  'decimals',
  'scheme',
] as const

/** What a document or a demand for payment says of what it sells. */
export interface Sale {
  readonly prices: readonly Price[]
  readonly resources: readonly Resource[]
  /** Entries of the lists that have more than are kept, by name of the list: at least so many. */
  readonly truncated: Readonly<Record<string, number>>
}

export const noSale: Sale = { prices: [], resources: [], truncated: {} }

/** Reads what is for sale in a document of this kind; a demand for payment is read as an x402 manifest. Never throws. */
export function saleIn(document: unknown, kind: SpecKind = 'x402'): Sale {
  const { prices, isCut } = pricesIn(document)
  const described = kind === 'x402' ? resourcesIn(document) : { resources: [], isCut: false }
  const truncated = {
    ...(isCut && { prices: prices.length + 1 }),
    ...(described.isCut && { resources: described.resources.length + 1 }),
  }
  return { prices, resources: described.resources, truncated }
}
