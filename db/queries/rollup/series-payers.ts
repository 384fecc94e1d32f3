import type pg from 'pg'
import { type ChainName, settlementChains } from '../../../config/chains.ts'
import { readingLimits } from '../../../config/limits.ts'
import { inTransaction, type Queryable } from '../../pool.ts'
import { allowLargeSums } from '../server/transaction-settings.ts'
import { bucketsOf, intervals, moved } from '../settlements/buckets.ts'
import { settlementSeries } from '../settlements/timeseries.ts'
import { archivedUntil } from './cursor.ts'
import { beginCount, countSlice, type SeriesPoint } from './series-count.ts'

/** Time budget of a round, in milliseconds, after which it begins no further count. Slices take half of it, or what is left. */
const longestRoundMs = 30_000
/** Settlements of a point up to which one statement counts its payers; more are counted in slices. */
const mostAtOnce = 500_000
/** Intervals whose points are counted in advance. Hours are not: they are counted on request, a few at a time. */
const lengths = intervals.filter((interval) => interval !== 'hour')

interface SeriesOptions {
  readonly pool: pg.Pool
  readonly now: () => Date
  readonly settlementOverloads: 'spec' | 'all'
  /** Settlements up to which payers are counted on request; set by tests only. */
  readonly payersUpTo?: number
  /** Settlements that are counted at once, and by a slice; set by tests only. */
  readonly atOnce?: number
  readonly slice?: number
  /** Time budget of the round; set by tests only. */
  readonly roundMs?: number
}

/** A point of a series whose payers have to be counted. */
interface Due {
  readonly fid: number | null
  readonly chain: ChainName | null
  readonly length: (typeof lengths)[number]
  readonly start: number
  readonly end: number
  readonly settlements: number
}

/**
 * Counts the payers of finished points in series with too many settlements to be counted on request: the overall series
 * and those of agents. Points whose settlements have changed are counted again. One that is counted in slices goes on in
 * the next rounds, and keeps only others so large waiting. Returns the number of points counted, or begun.
 */
export async function refreshSeriesPayers(options: SeriesOptions): Promise<number> {
  const { pool, now, settlementOverloads, payersUpTo = readingLimits.payerSettlements, atOnce = mostAtOnce } = options
  const { roundMs = longestRoundMs } = options
  const begun = performance.now()
  const deadline = begun + roundMs
  const countSlices = async (until: number) => {
    while (performance.now() < until && (await countSlice(pool, options.slice)));
  }
  let counted = 0
  await countSlices(begun + roundMs / 2)
  for (const fid of await largeSeries(pool, payersUpTo)) {
    for (const chain of [null, ...settlementChains()]) {
      for (const length of lengths) {
        for (const due of await duePoints(pool, { fid, chain, length, now: now().getTime(), settlementOverloads })) {
          if (performance.now() > deadline) return counted
          if (due.settlements > atOnce) {
            const point = pointOf(due, settlementOverloads)
            if (!(await beginCount(pool, point, chain === null ? settlementChains() : [chain]))) continue
            await countSlices(begun + roundMs / 2)
          } else await inTransaction(pool, (db) => countPayers(db, due, settlementOverloads, atOnce))
          counted++
        }
      }
    }
  }
  await countSlices(deadline)
  return counted
}

function pointOf({ fid, chain, length, start, end }: Due, settlementOverloads: 'spec' | 'all'): SeriesPoint {
  return {
    fid: fid ?? 0,
    chain: chain ?? '',
    length,
    start: new Date(start).toISOString(),
    end: new Date(end).toISOString(),
    overloads: settlementOverloads === 'all',
  }
}

/** FIDs with more than `most` settlements in all; null: the series of everybody. Deletes the counts of others. */
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

/** Finished points without an up-to-date count, newest first. */
async function duePoints(
  db: Queryable,
  { now, settlementOverloads, ...of }: Omit<Due, 'start' | 'end' | 'settlements'> & SeriesNow,
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
    .filter(({ unique_payers }) => unique_payers === null)
    .map(({ start, settlements }) => {
      const at = Date.parse(start)
      return { ...of, start: at, end: moved(length, at, 1), settlements }
    })
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
  atOnce: number,
): Promise<void> {
  await allowLargeSums(db)
  const asked = { fid, starts: [start], end, chain: chain === null ? null : [chain], length, settlementOverloads }
  const points = await settlementSeries(db, { ...asked, payersUpTo: atOnce })
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
