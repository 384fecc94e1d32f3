import type pg from 'pg'
import type { ChainName } from '../../../config/chains.ts'
import { inTransaction, type Queryable } from '../../pool.ts'
import type { Interval } from '../settlements/buckets.ts'
import { startsAt } from '../settlements/settlement-starts.ts'
import { isListed } from '../sql/settlement-filter.ts'

// How many paid in one point of a series with too many settlements for a statement: read in slices, over as many rounds as
// it takes. One point is counted at a time. Its payers and amounts are collected in a table of their own, next to that of what
// is left to read; neither is logged, so that after a crash both are empty and the point is begun again.

/** A point that is over, and the ISO times it begins and ends at. */
export interface SeriesPoint {
  /** 0: everybody. */
  readonly fid: number
  /** Empty: all. */
  readonly chain: ChainName | ''
  readonly length: Interval
  readonly start: string
  readonly end: string
  /** Whether those who used an overload alone are counted too. */
  readonly overloads: boolean
}

/** Settlements that one slice reads. */
const sliceSettlements = 200_000

/** Whether a point is being counted. */
async function isCounting(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ counting: boolean }>('select exists (select from series_count) as counting')
  return rows[0]?.counting === true
}

/** Begins to count a point in the chains named. False: another one is being counted. */
export function beginCount(pool: pg.Pool, point: SeriesPoint, chains: readonly ChainName[]): Promise<boolean> {
  const { fid, chain, length, start, end, overloads } = point
  return inTransaction(pool, async (db) => {
    await db.query('lock table series_count in share row exclusive mode')
    if (await isCounting(db)) return false
    await db.query('truncate series_count_found')
    const borders = chains.flatMap((one) => [start, end].map((since) => ({ chain: one, since })))
    const blocks = (await startsAt(db, borders)).map(({ block }) => block)
    await db.query({
      text: `
insert into series_count (fid, chain, length, start, until, overloads, addresses, of_chain, of_address, next_block, to_block)
select $1::bigint, $2, $3, $4, $5, $6, own.addresses, part.chain, address, part.from_block, part.end_block - 1
  from (select coalesce((select verified_addresses from agent where fid = $1), '{}') as addresses) own
 cross join unnest($7::text[], $8::int[], $9::int[]) as part (chain, from_block, end_block)
 cross join unnest(case when $1::bigint = 0 then '{null}'::bytea[] else own.addresses end) as address
 where part.end_block > part.from_block`,
      values: [
        fid,
        chain,
        length,
        start,
        end,
        overloads,
        chains,
        chains.map((_, at) => blocks[2 * at]),
        chains.map((_, at) => blocks[2 * at + 1]),
      ],
    })
    return true
  })
}

interface Part extends SeriesPoint {
  readonly ofChain: ChainName
  /** Null: of everybody. */
  readonly ofAddress: Buffer | null
  readonly next: number
  readonly last: number
}

/** Counts one slice of the point that is being counted, and keeps the result after its last. False: none is being counted. */
export function countSlice(pool: pg.Pool, most = sliceSettlements): Promise<boolean> {
  return inTransaction(pool, async (db) => {
    const { rows } = await db.query<Part>(
      `select fid, chain, length, start, until as end, overloads, of_chain as "ofChain", of_address as "ofAddress",
              next_block as next, to_block as last
         from series_count order by of_chain, of_address limit 1 for update`,
    )
    const part = rows[0]
    if (!part) return false
    const to = await sliceEnd(db, part, most)
    await collect(db, part, to)
    const of = `of_chain = $1 and of_address is not distinct from $2`
    if (to < part.last) {
      await db.query(`update series_count set next_block = $3 where ${of}`, [part.ofChain, part.ofAddress, to + 1])
      return true
    }
    const { rows: left } = await db.query<{ is_last: boolean }>(
      'select not exists (select from series_count offset 1) as is_last',
    )
    if (left[0]?.is_last) await keep(db)
    await db.query(`delete from series_count where ${of}`, [part.ofChain, part.ofAddress])
    return true
  })
}

/**
 * Settlements `s` of a part: its chain $1, its address $2, blocks from $3 to $4. Statements over them have no name, so that
 * each is planned for its blocks: a plan for any takes them to be few, and reads and sorts all that is left of an address
 * to find where a slice ends.
 */
const rowsOf = ({ ofAddress }: Part) => `
  from settlement s
 where s.chain = $1 and ${ofAddress ? 's.recipient = $2' : '$2::bytea is null'} and s.block_number between $3 and $4`

/** Last block of a slice with about `most` settlements. */
async function sliceEnd(db: Queryable, part: Part, most: number): Promise<number> {
  const { ofChain, ofAddress, next, last } = part
  const { rows } = await db.query<{ block: number }>({
    text: `select s.block_number as block ${rowsOf(part)} order by s.block_number offset $5 limit 1`,
    values: [ofChain, ofAddress, next, last, most],
  })
  return rows[0] ? Math.max(next, rows[0].block - 1) : last
}

async function collect(db: Queryable, part: Part, to: number): Promise<void> {
  const { ofChain, ofAddress, next, start, end, overloads } = part
  await db.query({
    text: `
with paid as materialized (
  select s.payer, s.amount ${rowsOf(part)}
     and s.block_timestamp >= $5 and s.block_timestamp < $6 and ($7::boolean or ${isListed('s.selector')})
),
payers as (
  insert into series_count_found (payer, n) select distinct payer, 1 from paid order by 1 on conflict do nothing
)
insert into series_count_found as found (amount, n)
select amount, count(*) from paid group by 1 order by 1
    on conflict (payer, amount) do update set n = found.n + excluded.n`,
    values: [ofChain, ofAddress, next, to, start, end, overloads],
  })
}

/** Keeps what was collected as the point's count. It holds, as any, for so many settlements and these addresses alone. */
async function keep(db: Queryable): Promise<void> {
  await db.query({
    text: `
insert into series_payers (fid, chain, length, start, overloads, addresses, settlements, payers, median)
select fid, chain, length, start, overloads, addresses, amounts.settlements, (select count(payer) from series_count_found), amounts.median
  from (select * from series_count limit 1) point
 cross join (
   select max(up_to) as settlements, min(amount) filter (where 2 * up_to >= total) as median
     from (select amount, sum(n) over (order by amount) as up_to, sum(n) over () as total
             from series_count_found where amount is not null) part
 ) amounts
 where amounts.settlements is not null
    on conflict (fid, chain, length, start) do update
   set (overloads, addresses, settlements, payers, median)
       = (excluded.overloads, excluded.addresses, excluded.settlements, excluded.payers, excluded.median)`,
  })
}
