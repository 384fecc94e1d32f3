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

/** Finds up to which agents are named one by one instead of being looked for along an order; who is found twice counts twice. */
const mostNamed = 2_000

/** Number of the newest change of any agent: while it is the same, so are all agents. */
export const newestChange = '(select coalesce(max(seq), 0) from agent_change)'

interface Named {
  /** Digits. Null: there are so many that a page of them is found sooner along its order. */
  readonly fids: string[] | null
  /** The newest change of any agent at that moment. */
  readonly change: number
}

/** The agents that `q` finds: by a part of their names, by words of what they and their documents say, by handle or by FID. */
export async function namedBy(db: Queryable, q: string): Promise<Named> {
  const { words, fid, handle, address } = understood(q)
  // Words first: of those that many say there are enough then, and no names are compared.
  const found =
    address === null
      ? `select fid from (
           (select fid from agent_words where document @@ websearch_to_tsquery('simple', $2::text) limit $5::int)
            union all
           (select fid from agent where search like lower($1::text) limit $5::int)
            union all
            select fid from agent where lower(handle) = lower($3::text)
            union all
            select fid from agent where fid = $4::bigint) one
          limit $5::int`
      : 'select fid from verified_address where address = $1 and ended_at is null'
  // Unnamed: planned with its words, as common and rare ones want other plans.
  const { rows } = await db.query<{ fids: string[]; change: number }>({
    text: `select array(${found}) as fids, ${newestChange} as change`,
    values: address === null ? [partOf(q), words, handle, fid, mostNamed] : [address],
  })
  const { fids, change } = rows[0]!
  return { fids: fids.length >= mostNamed ? null : [...new Set(fids)], change }
}
