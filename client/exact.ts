/** An id of 16 digits or more, perhaps inside a string: a text without one is parsed as it is. */
const wide = /"erc8004_id"\s*:\s*[0-9]{16}/
const idOrString = /("erc8004_id"\s*:\s*)([0-9]{16,})|"[^"\\]*(?:\\.[^"\\]*)*"/g

/**
 * Parses JSON. An `erc8004_id` beyond 2^53 becomes a string of its digits: a number of JavaScript would be rounded to
 * another id. The text is rewritten first, because before Node 22 no reviver sees a number's digits.
 */
export function parseExact<T>(text: string): T {
  return JSON.parse(wide.test(text) ? text.replace(idOrString, quoteWide) : text) as T
}

function quoteWide(one: string, key?: string, id?: string): string {
  return key === undefined || Number.isSafeInteger(Number(id)) ? one : `${key}"${id}"`
}
