import { findChain } from '../../../config/chains.ts'

const largestBigint = 9_223_372_036_854_775_807n // of a bigint column

/**
 * What people type: `@ada` is a handle, `FID 4207` and `4207` a FID, 0x and 40 digits an address, 0x and 64 a transaction,
 * `base 123` a registration. Null: it is not one.
 */
export function understood(q: string) {
  const [, place = '', id] = /^([\p{L}0-9_. -]{1,40}?)[\s:/#]+([0-9]{1,78})$/u.exec(q) ?? []
  const chain = findChain(place)
  const digits = /^(?:fid\s*)?[:#]?\s*([0-9]{1,100})$/i.exec(q)?.[1]
  const words = q.replace(/^@/, '')
  return {
    words,
    handle: words,
    fid: digits !== undefined && BigInt(digits) <= largestBigint ? digits : null,
    address: /^0x[0-9a-f]{40}$/i.test(q) ? Buffer.from(q.slice(2), 'hex') : null,
    transaction: /^0x[0-9a-f]{64}$/i.test(q) ? Buffer.from(q.slice(2), 'hex') : null,
    registration: chain !== undefined && id !== undefined ? { chain, id } : null,
  }
}

/** A text as a part of any other, in SQL's `like`. */
export const partOf = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`

/**
 * Whether the `q` of a list finds an agent, over its row `s` of `searched_agent`: by a part of handle, display name or oli,
 * digits also by FID; an address: verified by it. Words of documents are found by a search alone. All that is asked of `s`
 * has an index there, so that the rows of those who are found are read and no others.
 */
export function findsAgent(q: string, parameter: (value: unknown) => string): string {
  const { address, fid } = understood(q)
  if (address !== null) {
    return `s.fid in (select fid from verified_address where address = ${parameter(address)} and ended_at is null)`
  }
  // Lowercased as the column is: JavaScript has other rules for a few letters.
  const named = `s.search like lower(${parameter(partOf(q))}::text)`
  return isDigits.test(q) ? `(${named} or s.fid = ${parameter(fid)}::bigint)` : named
}

const isDigits = /^[0-9]+$/

/** A word of a text search query, whatever is in it. */
export const lexeme = (word: string) => `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
