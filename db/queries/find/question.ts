import { findChain } from '../../../chains.config.ts'
import type { Queryable } from '../../pool.ts'

const largestFid = 9_223_372_036_854_775_807n // of a bigint column

/**
 * What people type: `@ada` is a handle, `FID 4207` and `4207` a FID, 0x and 40 digits an address, 0x and 64 a transaction,
 * `base 123` a registration. Null: it is none.
 */
export function understood(q: string) {
  const [, place = '', id] = /^([\p{L}0-9]{1,40})[\s:/#]+([0-9]{1,78})$/u.exec(q) ?? []
  const chain = findChain(place)
  const digits = /^(?:fid\s*)?[:#]?\s*([0-9]{1,100})$/i.exec(q)?.[1]
  const words = q.replace(/^@/, '')
  return {
    words,
    handle: words,
    fid: digits !== undefined && BigInt(digits) <= largestFid ? digits : null,
    address: /^0x[0-9a-f]{40}$/i.test(q) ? Buffer.from(q.slice(2), 'hex') : null,
    transaction: /^0x[0-9a-f]{64}$/i.test(q) ? Buffer.from(q.slice(2), 'hex') : null,
    registration: chain !== undefined && id !== undefined ? { chain, id } : null,
  }
}

/** A text as a part of any other, in SQL's `like`. */
export const partOf = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`

/** Finds up to which agents are named one by one instead of being looked for along an order. */
export const mostNamed = 2_000

/** Number of the newest change of any agent: while it is the same, so are all agents. */
export const newestChange = '(select coalesce(max(seq), 0) from agent_change)'

interface Named {
  /** Digits. Null: there are so many that a page of them is found sooner along its order. */
  readonly fids: string[] | null
  /** The newest change of any agent at that moment. */
  readonly change: number
}

/**
 * Whether `q` finds an agent, over its row `s` of `searched_agent`: by a part of its names, by words of what it and its
 * documents say, by handle or by FID; an address: verified by it. All that is asked of `s` has an index there, so that the
 * rows of those who are found are read and no others.
 */
export function findsAgent(q: string, parameter: (value: unknown) => string): string {
  const { words, handle, fid, address } = understood(q)
  if (address !== null) {
    return `s.fid in (select fid from verified_address where address = ${parameter(address)} and ended_at is null)`
  }
  // Plain words, as the rest is a text taken as it is written: operators would make `-zzz` find everybody without that word.
  // Lowercased as the column is: JavaScript has other rules for a few letters.
  return `(s.document @@ plainto_tsquery('simple', ${parameter(words)}::text)
    or s.search like lower(${parameter(partOf(q))}::text)
    or s.fid = any (array(select h.fid from agent h where lower(h.handle) = lower(${parameter(handle)}::text)))
    or s.fid = ${parameter(fid)}::bigint)`
}

/** FIDs of the agents that `q` finds, and the newest change at that moment. */
export async function namedBy(db: Queryable, q: string): Promise<Named> {
  const values: unknown[] = []
  const found = findsAgent(q, (value) => `$${values.push(value)}`)
  // Unnamed: planned with its words, as common and rare ones want other plans.
  const { rows } = await db.query<{ fids: string[]; change: number }>({
    text: `
select array(select s.fid from searched_agent s where ${found} limit ${mostNamed}) as fids, ${newestChange} as change`,
    values,
  })
  const { fids, change } = rows[0]!
  return { fids: fids.length >= mostNamed ? null : fids, change }
}
