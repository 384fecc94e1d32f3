import type { Queryable } from '../../pool.ts'
import { placedByEarned } from '../income/earned.ts'
import { type Choice, chosen, chosenValue, type LeftOut, listWithoutBroken } from '../sql/broken-rows.ts'
import { members } from '../sql/json-text.ts'
import { leanFields } from '../sql/lean-row.ts'
import { type DiscoveryFilter, filterConditions, isDeclared, searchedConditions, withOf } from './discovery-filter.ts'
import { findsAgent } from './query-text.ts'

/** Finds up to which agents are named one by one instead of being looked for along an order. */
const mostNamed = 2_000

/** Number of the newest change of any agent: while it is the same, so are all agents. */
const newestChange = '(select coalesce(max(seq), 0) from agent_change)'

/** Every order is total: the fid is always last. Each has its index. */
const orders = {
  newest: 'a.listed_at desc, a.fid desc',
  oldest: 'a.listed_at, a.fid desc',
  'cross-chain': 'cardinality(a.chains) desc, a.settlements_all desc, a.fid desc',
  'most-active': 'a.settlements_30d desc, a.settlements_all desc, a.fid desc',
  'most-earned': 'a.earned_30d desc, a.earned_ever desc, a.fid desc',
} as const

type DiscoverySort = keyof typeof orders
export const discoverySorts = Object.keys(orders) as DiscoverySort[]

const microseconds = '(extract(epoch from a.listed_at) * 1000000)::bigint'
/** SQL: sort values of a row in each order, as digits; they make the cursor. */
const keys: Record<DiscoverySort, readonly string[]> = {
  newest: [microseconds, 'a.fid'],
  oldest: [microseconds, 'a.fid'],
  'cross-chain': ['cardinality(a.chains)', 'a.settlements_all', 'a.fid'],
  'most-active': ['a.settlements_30d', 'a.settlements_all', 'a.fid'],
  'most-earned': ['a.earned_30d', 'a.earned_ever', 'a.fid'],
}

const at = (value: string) => `timestamptz 'epoch' + ${value} * interval '1 microsecond'`
/** SQL condition for rows behind a cursor in each order of columns of `agent`, given its values as SQL; served by the order's index. */
const behind: Record<Exclude<DiscoverySort, 'most-earned'>, (...values: string[]) => string> = {
  newest: (listed = '', fid) => `(a.listed_at, a.fid) < (${at(listed)}, ${fid})`,
  oldest: (listed = '', fid) => `a.listed_at >= ${at(listed)} and (a.listed_at > ${at(listed)} or a.fid < ${fid})`,
  'cross-chain': (...values) => `(cardinality(a.chains), a.settlements_all, a.fid) < (${values.join(', ')})`,
  'most-active': (...values) => `(a.settlements_30d, a.settlements_all, a.fid) < (${values.join(', ')})`,
}

interface DiscoveryPage {
  readonly sort: DiscoverySort
  readonly limit: number
  /** Position of the page: an offset in rows, or a cursor; cursor null: the first page of a walk. */
  readonly from: { readonly offset: number } | { readonly after: readonly string[] | null }
  /** Fields of a row; null: all. */
  readonly fields: readonly string[] | null
}

/** What a filter matches, and the newest change of any agent at that moment: while it is the same, so is the total. */
export interface DiscoveryTotal {
  readonly total: number
  readonly change: number
}

interface DiscoveryRows {
  readonly total: number
  /** JSON array of lean rows. */
  readonly rows: string
  readonly count: number
  /** Cursor of the next page of a walk; null: this is the last page. */
  readonly next: string[] | null
}

const whereOf = (conditions: readonly string[]) => (conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`)

export async function discoveryTotal(db: Queryable, filter: DiscoveryFilter): Promise<DiscoveryTotal> {
  return atOneMoment(db, isDeclared(filter) ? null : filter, async (named) => {
    const { text, values } = counting(filter, named)
    // Unnamed, like the page: a plan made for every pattern at once is the wrong one for common or for rare words.
    const { rows } = await db.query<DiscoveryTotal>({
      text: `select (${text}) as total, ${newestChange} as change`,
      values,
    })
    return rows[0] ?? { total: 0, change: 0 }
  })
}

function counting(filter: DiscoveryFilter, named: Wanted['named']) {
  if (isDeclared(filter)) {
    const values: unknown[] = []
    const conditions = searchedConditions(filter, (value) => `$${values.push(value)}`)
    return { text: `select count(*) from searched_agent s ${whereOf(conditions)}`, values }
  }
  const { conditions, worded, values } = filterConditions(filter, { named })
  return { text: `${withOf(worded)} select count(*) from agent a ${whereOf(conditions)}`, values }
}

/** Filters that a `combination` has the values of, with the columns they are over, as SQL of their parts. */
const combined = {
  chain: "string_to_array(split_part(combination, '|', 1), ',') as chains",
  claimed: "split_part(combination, '|', 2)::boolean as claimed",
  spec: "split_part(combination, '|', 3)::boolean as has_spec",
  codehost: "split_part(combination, '|', 4)::boolean as has_codehost",
} as const

/** How many agents of each combination there are. */
interface DiscoveryGroups {
  /** JSON array. */
  readonly groups: string
  readonly change: number
}

/** Whether `groupTotal` knows the total of a filter. */
export const isGrouped = (filter: DiscoveryFilter): boolean =>
  Object.entries(filter).every(([name, value]) => (value ?? null) === null || name === 'q' || name in combined)

/** Counts of the agents that `q` finds, by combination; counting them apart takes no longer than a total. */
export async function discoveryGroups(db: Queryable, q: string | null): Promise<DiscoveryGroups> {
  const values: unknown[] = []
  const found = q === null ? 'true' : findsAgent(q, (value) => `$${values.push(value)}`)
  const text = `
select coalesce(json_agg(one), '[]')::text as groups, ${newestChange} as change
  from (select s.combination, count(*) as n from searched_agent s where ${found} group by s.combination) one`
  const { rows } = await db.query<DiscoveryGroups>({ text, values })
  return rows[0] ?? { groups: '[]', change: 0 }
}

/** What a filter matches of the agents that are grouped, without its `q`. */
export async function groupTotal(db: Queryable, groups: string, filter: DiscoveryFilter): Promise<number> {
  const { conditions, values } = filterConditions({ ...filter, q: null }, { named: null, before: [groups] })
  const { rows } = await db.query<{ total: number }>({
    text: `
select coalesce(sum(one.n), 0)::bigint as total
  from json_to_recordset($1) as one (combination text, n bigint)
 cross join lateral (select ${Object.values(combined).join(', ')}) a ${whereOf(conditions)}`,
    values,
  })
  return rows[0]?.total ?? 0
}

interface DiscoveryReading {
  /** The total at about this moment: counting takes longer than the page, so it is begun at the same time. */
  readonly early: () => Promise<DiscoveryTotal>
  /** The total while this was the newest change, if it still is. */
  readonly totalAt: (change: number) => Promise<DiscoveryTotal>
  readonly leftOut: LeftOut
}

/** Agents by filter: rows and total of one moment. A total is used when nothing has changed since, else counted again. */
export async function discoveryPage(
  db: Queryable,
  filter: DiscoveryFilter,
  page: DiscoveryPage,
  { early, totalAt, leftOut }: DiscoveryReading,
): Promise<DiscoveryRows> {
  const read = (named: Wanted['named'], total: string) =>
    listWithoutBroken({
      read: (choice) => pageOf(db, { filter, named, page, total, choice }),
      fids: () => fidsOf(db, { filter, named, page }),
      leftOut,
    })
  // Fewer agents are named than there are before a page far on.
  const isFarOn = 'offset' in page.from && page.from.offset >= mostNamed
  const reading = atOneMoment(db, isFarOn ? null : filter, (named) => read(named, 'null::bigint'))
  const [shown, before] = await Promise.all([reading, early()])
  const known = before.change === shown.change ? before : await totalAt(shown.change)
  if (known.change === shown.change) return { ...shown, total: known.total }
  return read(null, `(${counting(filter, null).text})`)
}

/**
 * Reads with the agents that `q` and what registrations declare find named one by one, which is sooner; when one has changed meanwhile, or there are too
 * many, by the condition itself, in the one statement.
 */
async function atOneMoment<T extends { readonly change: number }>(
  db: Queryable,
  filter: DiscoveryFilter | null,
  read: (named: Wanted['named']) => Promise<T>,
): Promise<T> {
  const named = filter && (await namedBy(db, filter))
  if (!named) return read(null)
  const found = await read(named.fids)
  return named.fids === null || found.change === named.change ? found : read(null)
}

interface Named {
  /** Digits. Null: there are so many that a page of them is found sooner along its order. */
  readonly fids: string[] | null
  /** The newest change of any agent at that moment. */
  readonly change: number
}

/** FIDs of the agents that `q` and what registrations declare find, and the newest change then; undefined: neither is asked for. */
export async function namedBy(db: Queryable, filter: DiscoveryFilter): Promise<Named | undefined> {
  const values: unknown[] = []
  const conditions = searchedConditions(filter, (value) => `$${values.push(value)}`)
  if (conditions.length === 0) return undefined
  // Unnamed: planned with its words, as common and rare ones want other plans.
  const { rows } = await db.query<{ fids: string[]; change: number }>({
    text: `
select array(select s.fid from searched_agent s ${whereOf(conditions)} limit ${mostNamed}) as fids, ${newestChange} as change`,
    values,
  })
  const { fids, change } = rows[0]!
  return { fids: fids.length >= mostNamed ? null : fids, change }
}

interface Wanted {
  readonly filter: DiscoveryFilter
  /** FIDs of all agents that its `q` and what registrations declare find, digits; null: its condition says which. */
  readonly named: readonly string[] | null
  readonly page: DiscoveryPage
}

interface PageOf extends Wanted {
  /** SQL of the total. */
  readonly total: string
  readonly choice: Choice
}

async function pageOf(db: Queryable, { total, choice, ...wanted }: PageOf): Promise<DiscoveryRows & DiscoveryTotal> {
  const { page } = wanted
  const { text, worded, values, limit } = found(wanted)
  const order = orders[page.sort]
  const last = `array[${keys[page.sort].map((key) => `(${key})::text`).join(', ')}]`
  const { rows } = await db.query<DiscoveryRows & DiscoveryTotal>({
    text: `
${withOf([...worded, `found as (${text})`])},
page as (select * from found a order by ${order} limit ${limit})
select coalesce(json_agg(json_build_object(${members(leanFields, page.fields)}) order by ${order}), '[]')::text as rows,
       count(*) as count, ${total} as total, ${newestChange} as change,
       (select ${last} from found a order by ${order} offset ${limit} - 1
         limit case when (select count(*) from found) > ${limit} then 1 else 0 end) as next
  from page a
 ${chosen(choice, 'a.fid', `$${values.length + 1}`)}`,
    values: [...values, ...chosenValue(choice)],
  })
  return rows[0] as DiscoveryRows & DiscoveryTotal
}

async function fidsOf(db: Queryable, wanted: Wanted): Promise<number[]> {
  const { text, worded, values } = found(wanted)
  const { rows } = await db.query<{ fid: number }>({ text: `${withOf(worded)} select fid from (${text}) a`, values })
  return rows.map(({ fid }) => fid)
}

/** Rows up to which a page is near the beginning of its order. */
const nearRows = 500

/**
 * The rows of a page; in a walk one more, which tells whether there is a next page. The agents before a page are passed in
 * the order's index alone, which has the columns of the common filters: nothing of them is read.
 */
function found({ filter, named, page: { sort, limit: rows, from } }: Wanted) {
  const isNear = 'after' in from || from.offset + rows <= nearRows
  const { conditions, worded, values } = filterConditions(filter, { named, isNear })
  const parameter = (value: unknown, type = 'bigint') => `$${values.push(value)}::${type}`
  // Sums of dollars are wider than anything else that a list is ordered by.
  const type = sort === 'most-earned' ? 'numeric' : 'bigint'
  const after = 'after' in from ? (from.after?.map((value) => parameter(value, type)) ?? null) : null
  const limit = parameter(rows)
  const offset = 'after' in from ? '0' : parameter(from.offset)
  const most = 'after' in from ? `${limit} + 1` : limit
  const part = `limit ${most} offset ${offset}`
  const placed =
    sort === 'most-earned'
      ? placedByEarned({ conditions, after, upTo: `(${most} + ${offset})`, part })
      : `select a.fid from agent a ${whereOf(after ? [...conditions, behind[sort](...after)] : conditions)} order by ${orders[sort]} ${part}`
  return { text: `select * from (${placed}) placed join agent using (fid)`, worded, values, limit }
}
