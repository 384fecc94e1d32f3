import { type Html, html } from './html.ts'

const grouped = new Intl.NumberFormat('en-US')

/** 12345 as 12,345. */
export function figure(value: number): string {
  return grouped.format(value)
}

/** A count with its word: 1 settlement, 2 settlements. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${figure(value)} ${value === 1 ? one : many}`
}

/** Exact dollars, as many decimals as there are and at least two: "1.500000" as $1.50. */
export function dollars(amount: string): string {
  if (amount.startsWith('-')) return `−${dollars(amount.slice(1))}`
  const [whole = '0', decimals = ''] = amount.split('.')
  return `$${grouped.format(BigInt(whole))}.${decimals.replace(/0+$/, '').padEnd(2, '0')}`
}

/** 12345 as 12,345 in a `data` element with the plain number, which a script formats for the reader's locale. */
export function number(value: number): Html {
  return html`<data value="${value}" title="${value}">${figure(value)}</data>`
}

/** Dollars rounded to the cent, half up; of less than a cent all decimals: "212.460001" as $212.46, "0.002" as $0.002. */
export function cents(amount: string): string {
  if (amount.startsWith('-')) return `−${cents(amount.slice(1))}`
  if (isFine(amount)) return dollars(amount)
  const [whole = '0', decimals = ''] = amount.split('.')
  const all = (BigInt(whole + decimals.slice(0, 3).padEnd(3, '0')) + 5n) / 10n
  return `$${grouped.format(all / 100n)}.${String(all % 100n).padStart(2, '0')}`
}

/** Whether an amount is more than nothing and less than a cent. */
const isFine = (amount: string) => /^0?\.00\d*[1-9]/.test(amount)

/**
 * Dollars as people read them, with the exact ones as a tooltip; a script formats them for the reader's locale, and copies
 * them exactly. Behind the point is an element of its own, by which a table aligns them.
 */
export function amount(text: string): Html {
  const [whole, decimals] = cents(text).split('.')
  return html`<data class="usd${isFine(text) && ' fine'}" value="${text}" title="${text} USD">${whole}<span class="cents">.${decimals}</span></data>`
}

/** Exact dollars, for what is asked per call: a tenth of a cent counts there. */
export function price(text: string): Html {
  return html`<data class="usd" value="${text}" title="${text} USD">${dollars(text)}</data>`
}

/** Dollars with three significant digits, for the scales of charts. */
export function shortDollars(value: number): string {
  return short.format(value)
}

const short = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  notation: 'compact',
  minimumFractionDigits: 0,
  maximumSignificantDigits: 3,
})

/** 0x1234…cdef: enough of an address or a hash to tell it from its neighbours. */
export function shortened(hex: string): string {
  return hex.length > 14 ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : hex
}
