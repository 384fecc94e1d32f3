import type pg from 'pg'
import { expect } from 'vitest'

const windows = { last_24h: '24 hours', last_7d: '7 days', last_30d: '30 days', ever: null }
/** What addresses of agents were paid by rolling window, counted from the settlements themselves. */
const countedByAddress = `
select address, max(s.block_timestamp) as newest_at,
       ${Object.entries(windows)
         .map(([name, window]) => {
           const filter =
             window === null ? '' : `filter (where s.block_timestamp > $1::timestamptz - interval '${window}')`
           return `count(s.amount) ${filter}::int as ${name}`
         })
         .join(', ')}
  from (select distinct unnest(verified_addresses) as address from agent) one
  left join settlement s on s.recipient = address and ($2 or s.selector in ('\\xe3ee160e', '\\xef55bec6'))
 group by address order by address`
const storedByAddress = `
select address, newest_at, ${Object.keys(windows)
  .map((name) => `${name}::int`)
  .join(', ')}
  from recipient_counts order by address`
const countedByAgent = `
select a.fid::int, coalesce(sum(last_7d), 0)::int as settlements_7d, coalesce(sum(last_30d), 0)::int as settlements_30d,
       coalesce(sum(ever), 0)::int as settlements_all, max(newest_at) as last_settlement_at
  from agent a left join (${countedByAddress}) one on one.address = any (a.verified_addresses)
 group by a.fid order by a.fid`
const storedByAgent = `
select fid::int, settlements_7d::int, settlements_30d::int, settlements_all::int, last_settlement_at from agent order by fid`

interface Counted {
  readonly now: Date
  readonly settlementOverloads: 'spec' | 'all'
}

/** Asserts that counts of addresses and agents are those of all settlements there are, to the second. */
export async function expectCounts(pool: pg.Pool, { now, settlementOverloads }: Counted): Promise<void> {
  const rowsOf = async (text: string, values: unknown[] = []) => (await pool.query(text, values)).rows
  const asked = [now, settlementOverloads === 'all']
  expect(await rowsOf(storedByAddress)).toEqual(await rowsOf(countedByAddress, asked))
  expect(await rowsOf(storedByAgent)).toEqual(await rowsOf(countedByAgent, asked))
}
