import { day } from '../../../ops/time.ts'
import type { BlockRange } from '../../block-range.ts'
import type { Queryable } from '../../pool.ts'
import { type ChainStart, startsAt } from '../settlements/settlement-starts.ts'

/** The facts of a chain on one UTC day, all of them final. */
export interface FactDay {
  readonly chain: string
  /** `2026-11-21` */
  readonly day: string
  readonly rows: number
  /** Fingerprint that changes when rows change, even if their number does not. */
  readonly state: string
}

type Day = Pick<FactDay, 'chain' | 'day'>

interface FactSet {
  /** Finished days that have rows, by chain and day. */
  readonly days: (db: Queryable) => Promise<FactDay[]>
  /** Block range of each day's rows, in the days' order; undefined: the day is not fully rolled up yet. */
  readonly ranges: (db: Queryable, days: readonly Day[]) => Promise<(BlockRange | undefined)[]>
  /** Column of an audit certificate that counts corrected rows of this kind. */
  readonly mended: 'changed' | 'events'
}

/** Time after the end of a day from which it counts as final even without later rows. */
const finalAfter = `interval '6 hours'`
const dayText = (time: string) => `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD')`

/** Datasets of facts, which are written by chain and day. */
export const factSets = {
  settlements: { days: settlementDays, ranges: settlementRanges, mended: 'changed' },
  feedback: { days: feedbackDays, ranges: feedbackRanges, mended: 'events' },
} as const satisfies Record<string, FactSet>

/** SQL: time up to which a chain's final rows are complete: a later hour is rolled up, or `finalAfter` has passed. */
const reached = `
  select chain, greatest(max(hour), (select indexed_at - ${finalAfter} from chain_state s where s.chain = t.chain)) as at
    from settlement_hour_total t
   where n > 0
   group by chain`

/** Time up to which a chain's settlements are complete: days that end by then are finished. Null: none. */
export async function settlementsReached(db: Queryable, chain: string): Promise<Date | null> {
  const { rows } = await db.query<{ at: Date }>({
    name: 'settlements-reached',
    text: `select at from (${reached}) reached where chain = $1`,
    values: [chain],
  })
  return rows[0]?.at ?? null
}

/** The sums of rolled up hours, which are of final blocks, tell whether a backfill or an audit reached into a day. */
async function settlementDays(db: Queryable): Promise<FactDay[]> {
  const { rows } = await db.query<FactDay>({
    name: 'served-settlement-days',
    text: `
with reached as (${reached}
)
select chain, ${dayText('day')} as day, n as rows, amount::text as state
  from (select chain, date_trunc('day', hour, 'UTC') as day, sum(n)::bigint as n, sum(amount) as amount
          from settlement_hour_total group by 1, 2) summed
  join reached using (chain)
 where n > 0 and day + interval '1 day' <= reached.at
 order by chain, day`,
  })
  return rows
}

/** Number of a chain's rolled up settlements by UTC day, of the days up to `untilDay` (`2026-11-21`) that have any. */
export async function settlementsByDay(db: Queryable, chain: string, untilDay: string): Promise<Map<string, number>> {
  const { rows } = await db.query<Pick<FactDay, 'day' | 'rows'>>({
    name: 'settlements-by-day',
    text: `
select ${dayText('hour')} as day, sum(n)::bigint as rows
  from settlement_hour_total
 where chain = $1 and hour < ($2::date + 1)::timestamp at time zone 'UTC'
 group by 1
having sum(n) > 0
 order by 1`,
    values: [chain, untilDay],
  })
  return new Map(rows.map(({ day, rows: settlements }) => [day, settlements]))
}

const dayAfter = (date: string) => new Date(Date.parse(date) + day).toISOString().slice(0, 10)
const nameOf = ({ chain, day }: Day) => `${chain} ${day}`

/** The end of a day is where the next one begins, so that neighbours share a search. */
async function settlementRanges(db: Queryable, days: readonly Day[]): Promise<(BlockRange | undefined)[]> {
  const borders = new Map<string, Day>()
  for (const { chain, day } of days) {
    for (const one of [day, dayAfter(day)]) borders.set(nameOf({ chain, day: one }), { chain, day: one })
  }
  const starts = await startsAt(
    db,
    [...borders.values()].map(({ chain, day }) => ({ chain, since: `${day}T00:00:00Z` })),
  )
  const blocks = new Map([...borders.keys()].map((name, at) => [name, (starts[at] as ChainStart).block]))
  const ranges = days.map(({ chain, day }) => ({
    chain,
    fromBlock: blocks.get(nameOf({ chain, day })) as number,
    toBlock: (blocks.get(nameOf({ chain, day: dayAfter(day) })) as number) - 1,
  }))
  const { rows } = await db.query<{ counted: boolean }>({
    name: 'served-unrolled',
    text: `
select not exists (select from settlement_unrolled u
                    where u.chain = r.chain and u.from_block <= r.to_block and u.to_block >= r.from_block) as counted
  from unnest($1::text[], $2::int[], $3::int[]) with ordinality as r (chain, from_block, to_block, place)
 order by r.place`,
    values: [
      ranges.map(({ chain }) => chain),
      ranges.map(({ fromBlock }) => fromBlock),
      ranges.map(({ toBlock }) => toBlock),
    ],
  })
  return ranges.map(({ fromBlock, toBlock }, at) => (rows[at]?.counted ? { fromBlock, toBlock } : undefined))
}

/** A feedback's block is final; the one that it was revoked in need not be, and another may take its place. */
async function feedbackDays(db: Queryable): Promise<FactDay[]> {
  const { rows } = await db.query<FactDay>({
    name: 'served-feedback-days',
    text: `
select chain, ${dayText('day')} as day, n as rows, revoked as state
  from (select f.chain, date_trunc('day', f.block_timestamp, 'UTC') as day, count(*) as n,
               concat_ws(' ', count(f.revoked_at), sum(f.revoked_block), sum(extract(epoch from f.revoked_at))) as revoked
          from feedback f
          join chain_state c on c.chain = f.chain and f.block_number <= c.finalized_block
         group by 1, 2) given
  join chain_state using (chain)
 where day + interval '1 day' <= indexed_at - ${finalAfter}
 order by chain, day`,
  })
  return rows
}

async function feedbackRanges(db: Queryable, days: readonly Day[]): Promise<(BlockRange | undefined)[]> {
  const { rows } = await db.query<Day & BlockRange>({
    name: 'served-feedback-ranges',
    text: `
select chain, ${dayText("date_trunc('day', f.block_timestamp, 'UTC')")} as day, min(f.block_number) as "fromBlock",
       max(f.block_number) as "toBlock"
  from feedback f
  join chain_state c using (chain)
 where f.block_number <= c.finalized_block
 group by 1, 2`,
  })
  const ranges = new Map(rows.map(({ fromBlock, toBlock, ...day }) => [nameOf(day), { fromBlock, toBlock }]))
  return days.map((day) => ranges.get(nameOf(day)))
}

/** Whether an audit mended rows of these blocks after a time, which their number and sums need not show. */
export async function auditedSince(
  db: Queryable,
  name: keyof typeof factSets,
  files: readonly (BlockRange & { readonly chain: string; readonly writtenAt: string })[],
): Promise<boolean[]> {
  const { rows } = await db.query<{ changed: boolean }>({
    name: `served-audited-${name}`,
    text: `
select exists (select from audit_certificate a
                where a.chain = f.chain and a.${factSets[name].mended} > 0 and a.audited_at > f.written_at
                  and a.from_block <= f.to_block and a.to_block >= f.from_block) as changed
  from unnest($1::text[], $2::int[], $3::int[], $4::timestamptz[]) with ordinality
       as f (chain, from_block, to_block, written_at, place)
 order by f.place`,
    values: [
      files.map(({ chain }) => chain),
      files.map(({ fromBlock }) => fromBlock),
      files.map(({ toBlock }) => toBlock),
      files.map(({ writtenAt }) => writtenAt),
    ],
  })
  return rows.map(({ changed }) => changed)
}
