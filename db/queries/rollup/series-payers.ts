import type pg from 'pg'
import { type ChainName, settlementChains } from '../../../chains.config.ts'
import { readingLimits } from '../../../limits.config.ts'
import { inTransaction, type Queryable } from '../../pool.ts'
import { bucketsOf, intervals, moved } from '../time/buckets.ts'
import { settlementSeries } from '../time/timeseries.ts'
import { archivedUntil } from './archived-until.ts'
import { allowLargeSums } from './sums.ts'

/** A round begins no further count after so long. */
const roundMs = 30_000
/** Points of more settlements are not counted: one of them would take a round of its own. */
const mostSettlements = 5_000_000
/** Hours are short enough to be asked for a few at a time. */
const lengths = intervals.filter((interval) => interval !== 'hour')

interface SeriesOptions {
  readonly pool: pg.Pool
  readonly now: () => Date
  readonly settlementOverloads: 'spec' | 'all'
  /** For tests. */
  readonly payersUpTo?: number
}

/** One point of one series. */
interface Due {
  readonly fid: number | null
  readonly chain: ChainName | null
  readonly length: (typeof lengths)[number]
  readonly start: number
  readonly end: number
}

/**
 * Counts the payers in points that are over, of everybody and of agents, whose series have too many settlements to be
 * counted for a request; those whose settlements are others by now are counted anew. Returns how many points were.
 */
export async function refreshSeriesPayers(options: SeriesOptions): Promise<number> {
  const { pool, now, settlementOverloads, payersUpTo = readingLimits.payerSettlements } = options
  const deadline = performance.now() + roundMs
  let counted = 0
  for (const fid of await largeSeries(pool, payersUpTo)) {
    for (const chain of [null, ...settlementChains()]) {
      for (const length of lengths) {
        for (const due of await duePoints(pool, { fid, chain, length, now: now().getTime(), settlementOverloads })) {
          if (performance.now() > deadline) return counted
          await inTransaction(pool, (db) => countPayers(db, due, settlementOverloads))
          counted++
        }
      }
    }
  }
  return counted
}

/** Whose settlements since the first block are so many; null: everybody's. What is kept of others is deleted. */
async function largeSeries(db: Queryable, most: number): Promise<(number | null)[]> {
  const { rows } = await db.query<{ fid: number }>({
    name: 'large-series',
    text: `
with large as materialized (
  select a.fid from agent a
   where (select sum(t.n) from settlement_total t where t.recipient = any (a.verified_addresses)) > $1
   union all
  select 0 where (select sum(n) from settlement_hour_total) > $1
),
gone as (delete from series_payers where fid not in (select fid from large))
select fid::float8 as fid from large order by fid`,
    values: [most],
  })
  return rows.map(({ fid }) => (fid === 0 ? null : fid))
}

/** Points that are over and not counted as they are, the newest first. */
async function duePoints(
  db: Queryable,
  { now, settlementOverloads, ...of }: Omit<Due, 'start' | 'end'> & SeriesNow,
): Promise<Due[]> {
  const { fid, chain, length } = of
  const until = await archivedUntil(db)
  const gone = Math.max(...[...until].map(([name, at]) => (chain === null || chain === name ? at.getTime() : -1)), -1)
  const newest = bucketsOf(length, { since: now, until: null, now }).starts[0] as number
  const starts = Array.from({ length: readingLimits.points }, (_, n) => moved(length, newest, n - readingLimits.points))
  const text = await settlementSeries(db, {
    fid,
    starts,
    end: newest,
    chain: chain === null ? null : [chain],
    length,
    settlementOverloads,
    payersUpTo: -1,
  })
  const points: { start: string; settlements: number; unique_payers: number | null }[] = JSON.parse(text)
  return points
    .filter(({ settlements, unique_payers }) => unique_payers === null && settlements <= mostSettlements)
    .map(({ start }) => ({ ...of, start: Date.parse(start), end: moved(length, Date.parse(start), 1) }))
    .filter((due) => due.start > gone) // who paid in archived blocks is not known any more
    .reverse()
}

interface SeriesNow {
  readonly now: number
  readonly settlementOverloads: 'spec' | 'all'
}

async function countPayers(
  db: Queryable,
  { fid, chain, length, start, end }: Due,
  settlementOverloads: 'spec' | 'all',
): Promise<void> {
  await allowLargeSums(db)
  const asked = { fid, starts: [start], end, chain: chain === null ? null : [chain], length, settlementOverloads }
  const points = await settlementSeries(db, { ...asked, payersUpTo: mostSettlements })
  await db.query({
    name: 'keep-series-payers',
    text: `
insert into series_payers (fid, chain, length, start, overloads, addresses, settlements, payers, median)
select $1, $2, $3, start, $4, coalesce((select verified_addresses from agent where fid = $1), '{}'), settlements,
       unique_payers, round(median_usdc * 1000000)
  from json_to_recordset($5) as point (start timestamptz, settlements bigint, unique_payers bigint, median_usdc numeric)
 where median_usdc is not null
    on conflict (fid, chain, length, start) do update
   set (overloads, addresses, settlements, payers, median)
       = (excluded.overloads, excluded.addresses, excluded.settlements, excluded.payers, excluded.median)`,
    values: [fid ?? 0, chain ?? '', length, settlementOverloads === 'all', points],
  })
}
