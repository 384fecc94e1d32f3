import { chainNames, chainOf } from '../../../config/chains.ts'
import { profileLimits } from '../../../config/limits.ts'
import { type ListedRegistration, toListedRegistration } from '../../agent-uri/listed-registration.ts'
import { networkOf } from '../../networks.ts'
import { shortText } from '../content.ts'
import { boundsOf, isAmbiguous, isDollar, isOfUse, isTokenSymbol, type Money, moneyIn, shifted } from './money.ts'
import { isSymbol, rated, rateOf, unitsIn } from './rates.ts'
import { combined, fieldsOf, type Meaning, type Members, membersOf } from './spellings.ts'

/** What is known of an offer at one place of a document; what stands further in adds to it. Null: it is not said. */
export interface Terms {
  readonly resource: string | null
  readonly description: string | null
  readonly scheme: string | null
  /** Several: it can be paid on each of them. */
  readonly networks: readonly string[]
  /** An address in lowercase, or a symbol. */
  readonly asset: string | null
  readonly payTo: string | null
  /** How x402 moves the asset, where it says so: `eip3009`, `permit2` or another way. */
  readonly transferMethod: string | null
  /** Registration that it names as the seller's. */
  readonly agent: ListedRegistration | null
  readonly currency: string | null
  /** What prices are for, where that is no single use: `month`, `1M tokens`. */
  readonly rate: string | null
  readonly money: Money | null
  /** Whether a bare number is in dollars, as in `x-payment-info`. */
  readonly bareIsDollars: boolean
  /** Whether a whole amount is one of the smallest units of its currency, as MPP writes them: 100 may be a dollar. */
  readonly mayBeMinor: boolean
}

export const noTerms: Terms = {
  resource: null,
  description: null,
  scheme: null,
  networks: [],
  asset: null,
  payTo: null,
  transferMethod: null,
  agent: null,
  currency: null,
  rate: null,
  money: null,
  bareIsDollars: false,
  mayBeMinor: false,
}

/**
 * The terms at an object, where `around` are those of what it stands in. `isWay`: it is a way to pay for that, and what
 * that costs in dollars holds for it, too.
 */
export function termsOf(object: unknown, around: Terms, isWay = false): Terms {
  const members = membersOf(object)
  // A price that is an object may name the asset itself, and the network.
  const inner = [...members.all('price'), ...members.all('ways')].filter(isPriceObject).map(pricedMembers)[0]
  const first = (...meanings: Parameters<Members['get']>) => members.get(...meanings) ?? inner?.get(...meanings)
  const about = membersOf(members.get('resource'))
  const { asset, network: assetNetwork, decimals } = assetOf(members) ?? (inner && assetOf(inner)) ?? noAsset
  const network = first('network')
  const named = (Array.isArray(network) ? network.slice(0, mostNetworks) : [network]).flatMap(
    (one) => shortText(fieldsOf(one).id ?? one) ?? [],
  )
  const networks = named.length > 0 ? named : assetNetwork !== null ? [assetNetwork] : around.networks
  const units = unitsIn(members, inner)
  const unit = currencyText(first('currency')) ?? units.find(isSymbol) ?? null
  const written = unit !== null && isOfUse(unit) ? null : unit
  // Some write the address of the token as the currency.
  const isAddress = written !== null && addressForm.test(written)
  const { assetTransferMethod, erc8004 } = fieldsOf(members.get('extra'))
  const isMpp = intents.has(members.get('intent'))
  const terms = {
    ...around,
    resource: placeOf(members) ?? around.resource,
    description: shortText(members.get('description')) ?? shortText(about.get('description')) ?? around.description,
    scheme: shortText(first('scheme')) ?? around.scheme,
    networks,
    asset: asset ?? (isAddress ? written.toLowerCase() : around.asset),
    payTo: payeeIn(first('payTo'), networks) ?? around.payTo,
    // Source: x402 specification, schemes exact and upto on EVM.
    transferMethod: shortText(assetTransferMethod) ?? around.transferMethod,
    // Source: draft ERC-8478, `extra.erc8004` of a payment requirement.
    agent: toListedRegistration(erc8004) ?? around.agent,
    currency: written !== null && !isAddress ? written : (around.currency ?? currencyText(members.get('accepted'))),
    rate: rateOf(units, around.rate),
    bareIsDollars: around.bareIsDollars && !isMpp,
    mayBeMinor: around.mayBeMinor || isMpp,
  }
  const own = { asset: asset !== null || isAddress, currency: written !== null && !isAddress }
  const said = moneyOf(members, terms, own, decimals) ?? (inner && moneyOf(inner, terms, own, decimals)) ?? null
  const payable = said?.network != null && named.length === 0 ? [said.network] : networks
  const dollars = isWay && said && said.minUsd === null && said.maxUsd === null ? around.money : null
  const money = said && dollars ? { ...said, minUsd: dollars.minUsd, maxUsd: dollars.maxUsd } : (said ?? around.money)
  return { ...terms, networks: payable, money: money && rated(money, terms.rate) }
}

/** A currency as a text, an object that names it, or a list of those that are taken; null: it is not said. */
function currencyText(value: unknown): string | null {
  const list = Array.isArray(value) ? value.slice(0, mostNetworks) : [value]
  const names = list.flatMap((one) => {
    const { get, at } = membersOf(one)
    return shortText(one) ?? shortText(get('currency')) ?? shortText(at('code')) ?? shortText(get('name')) ?? []
  })
  const others = names.filter((one) => !isDollar(one) && !isTokenSymbol(one))
  return others.length > 0 ? shortText(names.join(', ')) : (names[0] ?? null)
}

/** Intents of an offer of MPP. Source: draft-payment-discovery-00, `x-payment-info`, and -01, its offers. */
const intents: ReadonlySet<unknown> = new Set(['charge', 'session'])
/** Networks of one way to pay: more than there are prices kept, so that these are seen to be cut. */
const mostNetworks = profileLimits.pricesOfDocument + 1
const addressForm = /^0x[0-9a-f]{40}$/i

/** Whether a value is an object with an amount, and so part of what it stands in. */
export function isPriceObject(value: unknown): boolean {
  const members = membersOf(value)
  const hasAmount = amounts.some((meaning) => members.get(meaning) !== undefined)
  return hasAmount && members.get('payTo') === undefined && members.get('ways') === undefined
}

/** Currencies of amounts whose keys name them. */
const keyed = {
  usdc: 'USDC',
  usdt: 'USDT',
  eur: 'EUR',
  eth: 'ETH',
  sol: 'SOL',
  sats: 'sats',
  cents: 'cents',
  credits: 'credits',
} as const satisfies Partial<Record<Meaning, string>>
const keyedMeanings = Object.keys(keyed) as (keyof typeof keyed)[]

const amounts: readonly Meaning[] = [
  'amount',
  'units',
  'usd',
  'least',
  'most',
  'leastUsd',
  'mostUsd',
  'price',
  'value',
  'usdCents',
  ...keyedMeanings,
]

/** Members of a price that is an object, where `value` is the price unless another is there. */
function pricedMembers(object: unknown): Members {
  const members = membersOf(object)
  const value = members.get('value')
  const isOnly = value !== undefined && !amounts.some((one) => one !== 'value' && members.get(one) !== undefined)
  return isOnly ? membersOf(combined(fieldsOf(object), { price: value })) : members
}

/** A map of payees by network has no more: there are not as many networks. */
const mostPayees = 100

/** Whom to pay: an address, an object that has one, or a map of them by network of which one is meant. */
function payeeIn(value: unknown, networks: readonly string[]): string | null {
  if (typeof value !== 'object' || value === null) return addressText(value)
  const own = addressText(membersOf(value).get('address'))
  if (own !== null) return own
  const entries = payeesIn(value)
  const [network, ...others] = networks
  const { chain = null } = network !== undefined && others.length === 0 ? networkOf(network) : {}
  const fits = entries.filter(([key]) => key === network || (chain !== null && networkOf(key).chain === chain))
  const [only, ...more] = networks.length === 0 ? entries : fits
  return only && more.length === 0 ? addressText(only[1]) : null
}

/** Entries of a map of payees, by the map: every thing that is sold looks at it, and it is gone through once. */
const payeesRead = new WeakMap<object, readonly [string, unknown][]>()

/** Entries of a map of payees; none of one with more than it can have. */
function payeesIn(map: object): readonly [string, unknown][] {
  const known = payeesRead.get(map)
  if (known) return known
  const entries = Object.entries(fieldsOf(map))
  const read = entries.length > mostPayees ? [] : entries
  payeesRead.set(map, read)
  return read
}

function addressText(value: unknown): string | null {
  const text = typeof value === 'string' ? shortText(value) : null
  return text !== null && addressForm.test(text) ? text.toLowerCase() : text
}

/** What is sold: an address, or a path with its method. */
function placeOf(members: Members): string | null {
  const resource = members.get('resource')
  const place = shortText(resource) ?? shortText(membersOf(resource).get('resource'))
  const method = shortText(members.get('method'))
  return place?.startsWith('/') && method !== null ? shortText(`${method.toUpperCase()} ${place}`) : place
}

interface Asset {
  readonly asset: string | null
  /** The network in a CAIP-19 name. */
  readonly network: string | null
  readonly decimals: number | null
}

const noAsset: Asset = { asset: null, network: null, decimals: null }

/** The asset of an object: an address, a symbol, CAIP-19, or an object of its own. */
function assetOf(members: Members): Asset | undefined {
  const all = members.all('asset')
  const detail = membersOf(all.find((one) => typeof one === 'object'))
  const decimals = members.get('decimals') ?? detail.get('decimals')
  const texts = [...all, detail.get('address'), detail.get('currency')].flatMap((one) => addressText(one) ?? [])
  const text = texts.find((one) => addressForm.test(one)) ?? texts[0]
  const places = typeof decimals === 'string' ? Number(decimals) : decimals
  const known = typeof places === 'number' && Number.isInteger(places) && places >= 0 && places <= 36 ? places : null
  if (text === undefined) return known === null ? undefined : { ...noAsset, decimals: known }
  const [, network = null, reference = text] =
    /^([-a-z0-9]{3,8}:[-_a-z0-9]{1,40})\/[-a-z0-9]{3,8}:(.+)$/i.exec(text) ?? []
  return { asset: addressText(reference), network, decimals: known }
}

interface Said extends Money {
  readonly network: string | null
}

/** What an object itself names, not what it stands in. */
interface Own {
  readonly asset: boolean
  readonly currency: boolean
}

/** The money that an object names by itself; undefined: none that can be told. `own`: what the object itself names. */
function moneyOf(members: Members, terms: Omit<Terms, 'money'>, own: Own, decimals: number | null): Said | undefined {
  const none = { amount: null, currency: null, minUsd: null, maxUsd: null, network: null }
  const usd = dollarsIn(members)
  const units = members.get('units') ?? (own.currency && !own.asset ? undefined : members.get('amount'))
  const atomic = digitsOf(units)
  const isSymbol = terms.asset === null || !addressForm.test(terms.asset)
  const symbol = terms.asset ?? (own.currency ? terms.currency : null)
  let amount: Said | undefined
  if (atomic !== null) {
    amount =
      decimals !== null && isSymbol && symbol !== null
        ? { ...none, amount: shifted(atomic, decimals), currency: symbol }
        : { ...none, amount: atomic }
  }
  const of = (value: unknown, isAmount: boolean) => wholeMoney(value, { ...terms, isAmount, own, decimals }) ?? []
  const texts = [...members.all('price'), ...members.all('ways')]
  const price = [
    ...(amount ? [] : [members.get('units'), members.get('amount')]).flatMap((one) => of(one, true)),
    ...texts.flatMap((one) => of(one, false)),
  ]
  const spread = keyedMoney(members, terms) ?? rangeOf(members, terms, own)
  const dollars = [usd, ...price, spread].find((one) => one && (one.minUsd !== null || one.maxUsd !== null))
  const kept = amount ?? [usd, ...price, spread].find((one) => one && one.amount !== null)
  if (!kept && !dollars) return undefined
  const { minUsd = null, maxUsd = null } = dollars ?? {}
  const network = price.find((one) => one.network !== null)?.network ?? null
  return { ...none, amount: kept?.amount ?? null, currency: kept?.currency ?? null, minUsd, maxUsd, network }
}

/** Money in a currency that its key names; undefined: there is none, or it names another one itself. */
function keyedMoney(members: Members, terms: Omit<Terms, 'money'>): Said | undefined {
  for (const meaning of keyedMeanings) {
    const named = moneyIn(members.get(meaning))
    if (named) return inCurrency(named.amount, named.currency ?? keyed[meaning], terms)
  }
  return undefined
}

/** Dollars by a key that says so. */
function dollarsIn(members: Members) {
  const cents = digitsOf(members.get('usdCents'))
  if (cents !== null) return { amount: null, currency: null, minUsd: shifted(cents, 2), maxUsd: shifted(cents, 2) }
  const of = (meaning: 'usd' | 'leastUsd' | 'mostUsd') => {
    const named = moneyIn(members.get(meaning))
    const isOther = named?.currency != null && !isDollar(named.currency)
    return named && !isOther ? boundsOf(named.amount) : undefined
  }
  const [least = null, most = null] = of('usd') ?? [of('leastUsd')?.[0] ?? null, of('mostUsd')?.[1] ?? null]
  const range = `${least}-${most}`
  if (least !== null && most !== null && !boundsOf(range))
    return { amount: range, currency: 'USD', minUsd: null, maxUsd: null }
  return { amount: null, currency: null, minUsd: least, maxUsd: most }
}

/** What is known around an amount. `isAmount`: its key is one of amounts, which are of an asset, and not one of prices. */
interface Around extends Pick<Terms, 'asset' | 'currency' | 'networks' | 'bareIsDollars' | 'mayBeMinor'> {
  readonly isAmount: boolean
  readonly own: Own
  readonly decimals: number | null
}

/** An amount in whole units of its own currency, or of the one that the enclosing object gives. */
function wholeMoney(value: unknown, around: Around): Said | undefined {
  const named = moneyIn(value)
  if (!named) return undefined
  const { asset, decimals, own, isAmount } = around
  // A whole number of an asset is one of base units, which are not written otherwise.
  if (isAmount && !own.currency && named.currency === null && !named.amount.includes('.')) return undefined
  const ofAmount = (own.currency ? around.currency : null) ?? asset ?? around.currency
  const currency = named.currency ?? (isAmount ? ofAmount : currencyAt(around, own))
  const atomic = named.currency === null && decimals !== null ? digitsOf(value) : null
  const amount = atomic !== null ? shifted(atomic, decimals!) : named.amount
  const isInDollars = currency === null ? around.bareIsDollars : isDollar(currency)
  if (named.currency === null && isInDollars && isAmbiguous.test(amount))
    return { amount, currency: currency ?? 'USD', minUsd: null, maxUsd: null, network: null }
  const mayBeMinor = around.mayBeMinor && isAmount && named.currency === null
  return inCurrency(amount, currency, { ...around, mayBeMinor }, named.network)
}

/** Currency of a price that names none: its siblings win over the enclosing object. */
function currencyAt({ asset, currency }: Pick<Terms, 'asset' | 'currency'>, own: Own): string | null {
  const isOther = own.asset && !own.currency && asset !== null && !isTokenSymbol(asset) && !isDollarToken(asset)
  return isOther ? asset : (currency ?? asset)
}

const isDollarToken = (asset: string) =>
  chainNames.some((name) => chainOf(name).tokens.some(({ address }) => address === asset))

type Setting = Pick<Terms, 'networks' | 'bareIsDollars' | 'mayBeMinor'>

function inCurrency(
  amount: string,
  currency: string | null,
  around: Setting,
  network: string | null = null,
): Said | undefined {
  const none = { amount: null, currency: null, minUsd: null, maxUsd: null, network }
  const isMinor = around.mayBeMinor && /^\d+$/.test(amount)
  if (isMinor && currency !== null && isTokenSymbol(currency)) return { ...none, amount }
  if (currency === null ? around.bareIsDollars : isDollar(currency)) {
    const bounds = isMinor ? undefined : boundsOf(amount)
    if (bounds) return { ...none, minUsd: bounds[0], maxUsd: bounds[1] }
    // What is finer than a millionth is no price; a range from more to less is kept as it is written.
    return /^-?[\d.]*-?$/.test(amount) && !isMinor ? undefined : { ...none, amount, currency: currency ?? 'USD' }
  }
  if (currency !== null) return { ...none, amount, currency }
  // A number alone is in what x402 takes where nothing else is named: the dollar token of the network.
  const [only, ...others] = around.networks
  const { chain } = only === undefined || others.length > 0 ? { chain: null } : networkOf(only)
  return chain !== null && chainOf(chain).tokens.length > 0 ? { ...none, amount, currency: 'USDC' } : undefined
}

function rangeOf(members: Members, terms: Omit<Terms, 'money'>, own: Own): Said | undefined {
  const ends = (['least', 'most'] as const).map((meaning) => moneyIn(members.get(meaning)))
  const [least, most] = ends
  if (!least && !most) return undefined
  const currency = least?.currency ?? most?.currency ?? currencyAt(terms, own)
  if (least && most && least.amount === most.amount) return inCurrency(least.amount, currency, terms)
  return inCurrency(`${least?.amount ?? ''}-${most?.amount ?? ''}`, currency, terms)
}

/** Decimal digits of a number of base units, at most 256 bits; null: it is not one. */
function digitsOf(value: unknown): string | null {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && /^\d{1,78}$/.test(text) ? text.replace(/^0+(?=\d)/, '') : null
}
