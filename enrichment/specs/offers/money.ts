import { shortText } from '../content.ts'

/** An amount of money as a text names it. */
interface NamedMoney {
  /** Whole units in decimal, two of them with a dash for a range, or the text as it is when it says more than that. */
  readonly amount: string
  /** As written; null: a bare number. */
  readonly currency: string | null
  /** The network behind an "on". */
  readonly network: string | null
}

/** What something costs. */
export interface Money {
  /** Base units of the asset; with a currency, whole units or a text. Null: it is not said. */
  readonly amount: string | null
  readonly currency: string | null
  readonly minUsd: string | null
  readonly maxUsd: string | null
}

/** A comma stands before three digits or, as in half of the world, before the fraction. */
const number = String.raw`(?:0,\d+|\d+,\d{1,2}(?![\d,.])|(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)`
const range = String.raw`(?<least>${number})(?:\s*(?:-|–|—|to)\s*\$?(?<most>${number}))?`
const unit = String.raw`(?:\$?\p{L}[\p{L}\p{Sc}.]{1,11}\d?|\p{Sc})`
/** What a price is for when it is for one thing: "per 1,000" or "a month" is another price. */
const uses = `(?:call|request|req|query|queries|use|hit|invocation|execution|run|lookup|search|report|message|transaction|tx|item|result|page|record|image|task|job|scan|inference|prediction|response)s?`
const rate = String.raw`(?:\s*(?:\/|per|each|a)\s*(?:api\s+)?${uses})?`
const place = String.raw`(?:\s+on\s+(?<network>[\w: -]+))?`
const forms = [
  new RegExp(`^(?:usd?)?(?<currency>\\$)\\s?${range}\\s*(?:usdc?)?${rate}${place}$`, 'iu'),
  new RegExp(`^${range}\\s*(?<currency>${unit})?${rate}${place}$`, 'iu'),
  new RegExp(`^(?<currency>\\$?[A-Z]{3,10}|[A-Z]{0,3}\\p{Sc})\\s*${range}${rate}${place}$`, 'u'),
]
const longest = 100
/** Words before an amount that make a bound or a guess of it. */
const hedged =
  /^(?<word>from|starting (?:at|from)|up to|at (?:least|most)|about|approx\.?|~|≈|[<>≤≥]=?)\s*(?<rest>\S.*)$/isu
/** Codes of currencies (ISO 4217): behind a `$` they say whose dollars it means. */
const currencyCodes = new Set(Intl.supportedValuesOf('currency'))

/** Reads a text such as "$0.01 per call", "0.5 SOL", "€2" or 0.01; undefined: it names no amount. */
export function moneyIn(value: unknown): NamedMoney | undefined {
  const given = typeof value === 'number' ? plainNumber(value) : value
  if (typeof given !== 'string' || given.length > longest) return undefined
  // A run of blanks could be divided among the parts of a form in many ways.
  const text = given.trim().replaceAll(/\s+/g, ' ')
  if (text === '') return undefined
  const { word, rest: hedgedRest } = hedged.exec(text)?.groups ?? {}
  if (word !== undefined) {
    const named = moneyIn(hedgedRest)
    return named && { ...named, amount: shortText(`${word} ${named.amount}`)! }
  }
  for (const form of forms) {
    const { least, most, currency, network } = form.exec(text)?.groups ?? {}
    if (least === undefined) continue
    const amount = most === undefined ? digits(least) : `${digits(least)}-${digits(most)}`
    return { amount, currency: currency ?? null, network: network ?? null }
  }
  // It says more than an amount, such as "$2 per million tokens": kept as it is, and no dollars.
  const more = new RegExp(`^(?:us)?\\$\\s?(?<least>${number})(?<rest>.*)$`, 'isu').exec(text)?.groups
  if (more) {
    const [behind = '', code = ''] = /^\s*([A-Z]{3})\b/u.exec(more.rest!) ?? []
    const isOther = currencyCodes.has(code) && code !== 'USD'
    const rest = isOther ? more.rest!.slice(behind.length) : more.rest
    return { amount: shortText(`${more.least}${rest}`)!, currency: isOther ? code : 'USD', network: null }
  }
  const named = new RegExp(`^(?<least>${number})\\s*(?<currency>[A-Z]{3,6})\\b(?<rest>.*)$`, 'su').exec(text)?.groups
  if (!named) return undefined
  return { amount: shortText(`${named.least}${named.rest}`)!, currency: named.currency!, network: null }
}

const digits = (text: string) =>
  /^(0,\d+|\d+,\d{1,2})$/.test(text) ? text.replace(',', '.') : text.replaceAll(',', '').replace(/^\./, '0.')

/** A number without an exponent. */
const plainNumber = (value: number) =>
  /e/.test(String(value))
    ? value.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 20 })
    : String(value)

/** Whether a unit is what a price is for, and no currency: `request`, `per call`. */
export const isOfUse = (unit: string) => ofUse.test(unit)
const ofUse = new RegExp(`^(?:per[ _-]?)?(?:(?:api|http|tool)[ _-]?)?(?:${uses}|usage|each|once|one[ _-]?time)$`, 'i')

/** Whether a unit is a currency, or a coin that many name, and not a part of one. */
export const isCurrency = (unit: string) =>
  isDollar(unit) || isTokenSymbol(unit) || currencyCodes.has(unit) || coins.test(unit) || /^0x[0-9a-f]{40}$/i.test(unit)
const coins = /^(usdt|eurc?|w?eth|sol|w?btc)$/i

/** Whether a currency is the dollar itself. A dollar token is one only on a chain of the table. */
export const isDollar = (currency: string) => /^(usd|us\$|\$)$/i.test(currency)

/** A whole number that may be one of base units as well: nobody asks for thousands of dollars, and many write 10000. */
export const isAmbiguous = /^\d{4,}$/

/** Whether a symbol is that of the chain table's dollar tokens; of bridged and other ones it is not. */
export const isTokenSymbol = (text: string) => /^(\$?usdc|usd coin)$/i.test(text)

/** The least and the most of an amount in whole units, six decimals at most; undefined: it is finer, or is no amount, or from more to less. */
export function boundsOf(amount: string): readonly [string | null, string | null] | undefined {
  const [least = '', most = least, ...more] = amount.split('-')
  const fits = (text: string) => text === '' || (/^\d{1,12}(\.\d{1,6}0*)?$/.test(text) && text.length <= 40)
  if (more.length > 0 || (least === '' && most === '') || !fits(least) || !fits(most)) return undefined
  if (least !== '' && most !== '' && Number(least) > Number(most)) return undefined
  return [least || null, most || null]
}

/** An amount in base units as one in whole units, always with a decimal point. */
export function shifted(units: string, decimals: number): string {
  const padded = units.padStart(decimals + 1, '0')
  return `${padded.slice(0, padded.length - decimals)}.${padded.slice(padded.length - decimals) || '0'}`
}

/** A decimal number of whole units as one of base units; undefined: it is finer than they are. */
export function unitsOfWhole(amount: string, decimals: number): string | undefined {
  const [whole = '', fraction = ''] = amount.split('.')
  const rest = fraction.replace(/0+$/, '')
  if (!/^\d{1,40}$/.test(whole) || rest.length > decimals) return undefined
  return `${whole}${rest.padEnd(decimals, '0')}`.replace(/^0+(?=\d)/, '')
}
