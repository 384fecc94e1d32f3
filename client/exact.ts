/** A number of 16 digits or more, perhaps inside a string: a text without one is parsed as it is. */
const wide = /[[:,\s]-?[0-9]{16}/
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][0-9.eE+-]*/g

/**
 * Parses JSON. Integers beyond 2^53, as ids of registrations may be, become strings of their digits: numbers of
 * JavaScript would be rounded. The text is rewritten first, because before Node 22 no reviver sees a number's digits.
 */
export function parseExact<T>(text: string): T {
  return JSON.parse(wide.test(text) ? text.replace(token, quoteWide) : text) as T
}

const quoteWide = (one: string) => (/^-?[0-9]{16,}$/.test(one) && !Number.isSafeInteger(Number(one)) ? `"${one}"` : one)
