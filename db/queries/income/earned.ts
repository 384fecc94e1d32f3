import type { Queryable } from '../../pool.ts'
import { dollars } from '../sql/json-text.ts'

// What agents earned, as their figures have it: income of every kind on all chains, without what they paid themselves.

/** SQL: whether a row `f` of agent_figure is that of an agent that earned more than nothing; the index agent_figure_most_earned. */
const hasEarned = `f.chain = '' and not f.own and f.earned_ever_amount > 0`

/**
 * SQL: what a row `f` ranks by first. Refunds of what was paid before can leave less than nothing of 30 days; that is as
 * nothing, or those agents would stand behind all that never earned anything.
 */
const earned30d = 'greatest(f.earned_last_30d_amount, 0)'

/** Dollars as exact decimal numbers. */
export interface Earned {
  readonly last30d: string
  /** How many payments `last30d` is of. */
  readonly payments30d: number
  readonly ever: string
}

/** What each of a page of agents earned, by FID; absent: nothing. */
export async function earnedBy(db: Queryable, fids: readonly number[]): Promise<ReadonlyMap<number, Earned>> {
  const { rows } = await db.query<Earned & { fid: number }>({
    name: 'earned-by',
    text: `
select f.fid::float8 as fid, ${dollars('f.earned_last_30d_amount')}::text as "last30d",
       f.earned_last_30d::float8 as "payments30d", ${dollars('f.earned_ever_amount')}::text as ever
  from agent_figure f
 where f.fid = any ($1::bigint[]) and ${hasEarned}`,
    values: [fids],
  })
  return new Map(rows.map(({ fid, ...earned }) => [fid, earned]))
}

interface Place {
  /** Over the agent `a`. */
  readonly conditions: readonly string[]
  /** The row behind which the rows are: in 30 days, ever, FID; null: from the first. */
  readonly after: readonly string[] | null
  /** How many rows there are up to the last one wanted. */
  readonly upTo: string
  /** Which of these are wanted: `limit` and `offset`. */
  readonly part: string
}

/**
 * SQL query (fid, earned_30d, earned_ever, base units): agents by what they earned in 30 days, if that is more than nothing, then ever, then by FID, all
 * descending. Who earned something is read along the index of figures; the others, who have no figure or nothing in it,
 * stand behind and are read by FID, as many as a page still lacks.
 */
export function placedByEarned({ conditions, after, upTo, part }: Place): string {
  const all = (more: readonly (string | null)[]) => [...more.filter(Boolean), ...conditions].join(' and ')
  const [last30d, ever, last] = after ?? []
  // Of the column's own type: compared as another, it is no condition of an index.
  const fid = `${last}::bigint`
  // Planned with its values, so that of the two places a cursor can be at only one is left.
  const isBehindOthers = `(${ever} > 0 or a.fid < ${fid})`
  return `
with earning as materialized (
  select f.fid, ${earned30d} as earned_30d, f.earned_ever_amount as earned_ever
    from agent_figure f
    join agent a using (fid)
   where ${all([hasEarned, after && `(${earned30d}, f.earned_ever_amount, f.fid) < (${last30d}, ${ever}, ${fid})`])}
   order by ${earned30d} desc, f.earned_ever_amount desc, f.fid desc
   limit ${upTo}
),
other as (
  select a.fid, 0::numeric as earned_30d, 0::numeric as earned_ever
    from agent a
   where ${all([`not exists (select from agent_figure f where f.fid = a.fid and ${hasEarned})`, after && isBehindOthers])}
   order by a.fid desc
   limit greatest(0, ${upTo} - (select count(*) from earning))
)
select * from (select * from earning union all select * from other) one
 order by earned_30d desc, earned_ever desc, fid desc ${part}`
}
