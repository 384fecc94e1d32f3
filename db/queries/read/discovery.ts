import type { ChainName } from '../../../chains.config.ts'
import type { Queryable } from '../../pool.ts'
import { type Choice, chosen, chosenValue, type LeftOut, listWithoutBroken } from '../sql/broken-rows.ts'
import { leanRow } from '../sql/lean-row.ts'

/** Which agents; null: no filter. */
export interface DiscoveryFilter {
  /** Part of handle, display name or oli in any case; all digits: also the fid; an address: verified by the agent. */
  readonly q: string | null
  /** Any of these; an empty list matches nothing. */
  readonly chain: readonly ChainName[] | null
  readonly claimed: boolean | null
  readonly spec: boolean | null
  readonly codehost: boolean | null
}

/** Every order is total: the fid is always last. Each has its index. */
const orders = {
  newest: 'a.listed_at desc, a.fid desc',
  oldest: 'a.listed_at, a.fid desc',
  'cross-chain': 'cardinality(a.chains) desc, a.settlements_all desc, a.fid desc',
  'most-active': 'a.settlements_30d desc, a.settlements_all desc, a.fid desc',
} as const

export type DiscoverySort = keyof typeof orders
export const discoverySorts = Object.keys(orders) as DiscoverySort[]

export interface DiscoveryPage {
  readonly sort: DiscoverySort
  readonly page: number
  readonly limit: number
}

/** What a filter matches, and the newest change of any agent at that moment: while it is the same, so is the total. */
export interface DiscoveryTotal {
  readonly total: number
  readonly change: number
}

const newestChange = '(select coalesce(max(seq), 0) from agent_change)'

export async function discoveryTotal(db: Queryable, filter: DiscoveryFilter): Promise<DiscoveryTotal> {
  const { where, values } = conditions(filter)
  // Unnamed, like the page: a plan made for every pattern at once is the wrong one for common or for rare words.
  const text = `select count(*) as total, ${newestChange} as change from agent a ${where}`
  const { rows } = await db.query<DiscoveryTotal>({ text, values })
  return rows[0] ?? { total: 0, change: 0 }
}

/**
 * JSON of `GET /api/discovery`: rows and total of one moment. Counting takes longer than the page, so `totalAt` may
 * know the total from before; what it gives is used when nothing has changed since, and counted anew otherwise.
 */
export async function discoveryPage(
  db: Queryable,
  filter: DiscoveryFilter,
  page: DiscoveryPage,
  { totalAt, leftOut }: { readonly totalAt: (change: number) => Promise<DiscoveryTotal>; readonly leftOut: LeftOut },
): Promise<string> {
  const read = (total: string) =>
    listWithoutBroken({
      read: (choice) => pageOf(db, { filter, page, total, choice }),
      fids: () => fidsOf(db, filter, page),
      leftOut,
    })
  const shown = await read('null::bigint')
  const known = await totalAt(shown.change)
  const { where } = conditions(filter)
  const { agents, count, total } =
    known.change === shown.change
      ? { ...shown, total: known.total }
      : await read(`(select count(*) from agent a ${where})`)
  const { limit } = page
  const offset = (page.page - 1) * limit
  return `{"agents":${agents},"total":${total},"limit":${limit},"offset":${offset},"page":${page.page},"count":${count}}`
}

interface PageOf {
  readonly filter: DiscoveryFilter
  readonly page: DiscoveryPage
  /** SQL of the total. */
  readonly total: string
  readonly choice: Choice
}

async function pageOf(db: Queryable, { filter, page, total, choice }: PageOf) {
  const { text, values } = listed(filter, page)
  const order = orders[page.sort]
  const { rows } = await db.query<DiscoveryTotal & { agents: string; count: number }>({
    text: `
with page as (${text})
select coalesce(json_agg(json_build_object(${leanRow}) order by ${order}), '[]')::text as agents,
       count(*) as count, ${total} as total, ${newestChange} as change
  from page a
 ${chosen(choice, 'a.fid', `$${values.length + 1}`)}`,
    values: [...values, ...chosenValue(choice)],
  })
  return rows[0] as DiscoveryTotal & { agents: string; count: number }
}

async function fidsOf(db: Queryable, filter: DiscoveryFilter, page: DiscoveryPage): Promise<number[]> {
  const { text, values } = listed(filter, page)
  const { rows } = await db.query<{ fid: number }>({ text: `select fid from (${text}) a`, values })
  return rows.map(({ fid }) => fid)
}

function listed(filter: DiscoveryFilter, { sort, page, limit }: DiscoveryPage) {
  const { where, values } = conditions(filter)
  const parameter = (value: unknown) => `$${values.push(value)}::bigint`
  const rows = `limit ${parameter(limit)} offset ${parameter((page - 1) * limit)}`
  return { text: `select * from agent a ${where} order by ${orders[sort]} ${rows}`, values }
}

function conditions(filter: DiscoveryFilter): { where: string; values: unknown[] } {
  const values: unknown[] = []
  const parameter = (value: unknown) => `$${values.push(value)}`
  const all = [
    ...(filter.q === null ? [] : [matches(filter.q, parameter)]),
    ...(filter.chain === null ? [] : [`a.chains && ${parameter(filter.chain)}::text[]`]),
    ...(filter.claimed === null ? [] : [`a.claimed = ${parameter(filter.claimed)}`]),
    ...(filter.spec === null ? [] : [`a.has_spec = ${parameter(filter.spec)}`]),
    ...(filter.codehost === null ? [] : [`a.has_codehost = ${parameter(filter.codehost)}`]),
  ]
  return { where: all.length === 0 ? '' : `where ${all.join(' and ')}`, values }
}

const largestFid = 9_223_372_036_854_775_807n // of a bigint column

function matches(q: string, parameter: (value: unknown) => string): string {
  if (/^0x[0-9a-f]{40}$/i.test(q)) {
    const address = parameter(Buffer.from(q.slice(2), 'hex'))
    return `a.fid in (select fid from verified_address where address = ${address} and ended_at is null)`
  }
  const pattern = `%${q.replace(/[\\%_]/g, '\\$&')}%`
  // Lowercased as the column is: JavaScript has other rules for a few letters.
  const contains = `a.search like lower(${parameter(pattern)}::text)`
  const isFid = /^[0-9]+$/.test(q) && BigInt(q) <= largestFid
  return isFid ? `(${contains} or a.fid = ${parameter(q)}::bigint)` : contains
}
