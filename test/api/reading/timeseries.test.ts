import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { agentSeries, allSeries } from '../../../api/schemas/settlements/timeseries.ts'
import { inTransaction } from '../../../db/pool.ts'
import { deleteSums } from '../../../db/queries/chain/reset.ts'
import { lockRollup, subtractFromRollup } from '../../../db/queries/rollup/cursor.ts'
import { beginCount, countSlice } from '../../../db/queries/rollup/series-count.ts'
import { refreshSeriesPayers } from '../../../db/queries/rollup/series-payers.ts'
import { type MovedSettlement, movedColumns } from '../../../db/queries/rollup/sums.ts'
import { bucketsOf, type Interval, intervals } from '../../../db/queries/settlements/buckets.ts'
import { settlementSeries } from '../../../db/queries/settlements/timeseries.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { addressOf, seedAgent, seedChainState, seedSettlement } from '../../support/seed.ts'

const database = testDatabase()
let api: TestApi
const hour = 3_600_000
const base = Date.UTC(2026, 0, 25, 3)
/** Milliseconds between blocks; the rows reach over the ends of days, weeks and a month. */
const step = 47 * 60_000
const blocks = 500
const final = { base: 300, celo: 430, polygon: 0 } as const
const chains = Object.keys(final) as (keyof typeof final)[]
const addresses = ['one', 'two', 'stranger'].map(addressOf)
const now = base + (blocks + 10) * step

const rows = Array.from({ length: blocks }, (_, n) => ({
  chain: chains[(n * 7) % 3] as (typeof chains)[number],
  block: n + 1,
  at: base + (n + 1) * step,
  recipient: addresses[((n * 5) % 4) % 3] as string,
  payer: addressOf(`payer ${(n * n) % 9}`),
  amount: BigInt((n * 31) % 900) * 1_000n,
  selector: n % 13 === 0 ? '0xcf092995' : '0xe3ee160e',
}))

beforeAll(async () => {
  api = await startApi(database, { now: () => now })
  const { pool } = database
  await seedAgent(pool, { fid: 1, addresses: addresses.slice(0, 2) })
  await seedAgent(pool, { fid: 2, addresses: [addressOf('unpaid')] })
  for (const chain of chains)
    await seedChainState(pool, { chain, indexed: blocks, finalized: final[chain], at: new Date(now) })
  for (const { at, ...row } of rows) await seedSettlement(pool, { ...row, at: new Date(at) })
  while ((await rollUpSettlements({ pool })) > 0);
})
afterAll(() => api.stop())

async function series(path: string, query: Record<string, string | string[] | undefined>) {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => (one === undefined ? [] : [[name, one] as [string, string]])),
  )
  const response = await api.get(`${path}?${new URLSearchParams(pairs)}`)
  expect(response.status).toBe(200)
  const body = await response.json()
  return path === '/api/timeseries' ? allSeries.parse(body) : agentSeries.parse(body)
}

/** Calendar name (UTC) of the bucket that a time in milliseconds is in, independent of the code under test. */
const named = (at: number, interval: string) => {
  const date = new Date(at)
  const monday = new Date(at - ((date.getUTCDay() + 6) % 7) * 24 * hour)
  if (interval === 'week') return monday.toISOString().slice(0, 10)
  return date.toISOString().slice(0, { hour: 13, day: 10, month: 7 }[interval as 'hour'])
}

const anyTime = fc.option(fc.integer({ min: base - 40 * step, max: now + 90 * step }), { nil: undefined })
const anyChains = fc.option(fc.subarray([...chains], { minLength: 1 }), { nil: undefined })

test('points are the sums of the rows, for any window, interval and chains, of an agent and of all', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.boolean(),
      fc.constantFrom(...intervals),
      anyTime,
      anyTime,
      anyChains,
      async (isAgent, interval, since, until, chain) => {
        const body = await series(isAgent ? '/api/agent/1/timeseries' : '/api/timeseries', {
          interval,
          since: since === undefined ? undefined : new Date(since).toISOString(),
          until: until === undefined ? undefined : new Date(until).toISOString(),
          chain,
        })
        const from = Date.parse(body.since as string)
        const to = Date.parse(body.until as string)
        const window = rows.filter(
          (row) =>
            row.selector === '0xe3ee160e' &&
            (!isAgent || row.recipient !== addresses[2]) &&
            (chain === undefined || chain.includes(row.chain)) &&
            row.at >= from &&
            row.at < to,
        )
        const expected = body.points.map(({ start }) => {
          const here = window.filter((row) => named(row.at, body.interval) === named(Date.parse(start), body.interval))
          const units = here.reduce((sum, { amount }) => sum + amount, 0n)
          return {
            start,
            settlements: here.length,
            amount_usdc: Number(units) / 1e6,
            unique_payers: new Set(here.map(({ payer }) => payer)).size,
            median_usdc: medianOf(here.map(({ amount }) => amount)),
          }
        })
        expect(body.points).toEqual(expected)
        expect(body.points.reduce((sum, { settlements }) => sum + settlements, 0)).toBe(window.length)
        expect(body.count).toBe(body.points.length)
        // The answered window covers the requested one, up to now, and exceeds it by less than a bucket at either end.
        const asked = { since: since ?? from, until: Math.min(until ?? now + 1, now + 1) }
        if (asked.since >= asked.until) {
          expect(body.points).toEqual([])
          return
        }
        expect(from <= asked.since && to >= asked.until).toBe(true)
        expect(named(from, interval)).toBe(named(asked.since, interval))
        expect(named(to - 1, interval)).toBe(named(asked.until - 1, interval))
      },
    ),
    { numRuns: 60 },
  )
})

test('without a window there are the last thirty points; the one that is not over is told by complete_until', async () => {
  const body = await series('/api/agent/1/timeseries', {})
  expect([body.interval, body.count, body.points.length]).toEqual(['day', 30, 30])
  expect(Date.parse(body.until as string)).toBeGreaterThan(now)
  // Nothing of polygon is rolled up: its sums may change from its first settlement on.
  const first = rows.find(({ chain }) => chain === 'polygon')
  expect(body.complete_until).toBe(new Date(first?.at ?? 0).toISOString())
  const ofCelo = await series('/api/timeseries', { chain: 'celo' })
  const firstHot = rows.find(({ chain, block }) => chain === 'celo' && block > final.celo)
  expect(ofCelo.complete_until).toBe(new Date(firstHot?.at ?? 0).toISOString())
  const body2 = await series('/api/agent/2/timeseries', { chain: 'base' })
  expect(body2.points.every(({ settlements, unique_payers }) => settlements === 0 && unique_payers === 0)).toBe(true)
})

test('over a thousand points the next coarser interval is taken, and said', async () => {
  const cases = [
    ['hour', 1_000, 'hour', 1_000],
    ['hour', 1_001, 'day', 42],
    ['hour', 24 * 1_200, 'week', 172],
    ['day', 24 * 7 * 1_001, 'month', 232],
  ] as const
  for (const [wanted, hours, taken, points] of cases) {
    const until = Date.UTC(2026, 0, 5) // a Monday
    const body = await series('/api/agent/1/timeseries', {
      interval: wanted,
      since: new Date(until - hours * hour).toISOString(),
      until: new Date(until).toISOString(),
    })
    expect([wanted, hours, body.interval, body.count]).toEqual([wanted, hours, taken, points])
  }
})

test('buckets stand on each other, whatever the calendar does', () => {
  fc.assert(
    fc.property(fc.constantFrom(...intervals), fc.nat(4e12), fc.nat(4e12), (interval, since, until) => {
      const { starts, end, interval: taken } = bucketsOf(interval, { since, until, now: 4e12 })
      expect(starts.length).toBeLessThanOrEqual(1_000)
      expect(intervals.indexOf(taken)).toBeGreaterThanOrEqual(intervals.indexOf(interval))
      expect(new Set(starts.map((start) => named(start, taken))).size).toBe(starts.length)
      for (const [index, start] of starts.entries())
        expect(named((starts[index + 1] ?? end) - 1, taken)).toBe(named(start, taken))
    }),
  )
})

test('what cannot be read matches nothing, and an unknown agent is not found', async () => {
  const nothing = { since: null, until: null, count: 0, points: [] }
  expect(await series('/api/agent/1/timeseries', { since: 'yesterday' })).toMatchObject(nothing)
  expect(await series('/api/timeseries', { until: '2026-01-01' })).toMatchObject(nothing)
  const unknown = await series('/api/timeseries', { chain: 'solana' })
  expect(unknown.points.every(({ settlements }) => settlements === 0)).toBe(true)
  expect((await api.get('/api/agent/9/timeseries')).status).toBe(404)
})

test.for([
  ['at once', {}],
  ['in slices', { atOnce: 20, slice: 30 }],
] as const)(
  'of windows with too many settlements the job keeps the payers of points that are over, counted %s',
  async ([, how]) => {
    const { pool } = database
    const lengths = intervals.filter((interval) => interval !== 'hour')
    /** Rounds until nothing is left to count; returns how many points were. */
    const keep = async (payersUpTo = 0) => {
      const options = { pool, now: () => new Date(now), settlementOverloads: 'spec', payersUpTo, ...how } as const
      let points = 0
      for (let counted = -1; counted !== 0; points += counted) counted = await refreshSeriesPayers(options)
      return points
    }
    const read = async (fid: number | null, chain: Chain[] | null, length: Interval, payersUpTo: number) => {
      const { starts, end } = bucketsOf(length, { since: base - 5 * 24 * hour, until: null, now })
      const asked = { fid, starts, end, chain, length, settlementOverloads: 'spec', payersUpTo } as const
      return JSON.parse(await settlementSeries(pool, asked)) as Point[]
    }
    /** Points that have settlements: with payers as stored, and with payers counted for the request. */
    const both = async (fid: number | null, chain: Chain[] | null, length: Interval) => {
      const [kept, counted] = await Promise.all([read(fid, chain, length, -1), read(fid, chain, length, 1_000_000)])
      expect(kept.map(({ settlements }) => settlements)).toEqual(counted.map(({ settlements }) => settlements))
      const isPaid = ({ settlements }: Point) => settlements > 0
      expect(kept.filter((point) => !isPaid(point))).toEqual(counted.filter((point) => !isPaid(point)))
      return [kept.filter(isPaid), counted.filter(isPaid)] as [Point[], Point[]]
    }
    const unknown = (points: Point[]) => points.map((point) => ({ ...point, unique_payers: null, median_usdc: null }))
    const [before, all] = await both(null, null, 'day')
    expect(before).toEqual(unknown(all))
    expect(await keep()).toBeGreaterThan(0)
    for (const fid of [1, null]) {
      for (const length of lengths) {
        for (const chain of [null, ...chains.map((one) => [one])]) {
          const [kept, counted] = await both(fid, chain, length)
          const over = counted.length - 1 // the last bucket has not ended
          expect([fid, length, chain, kept]).toEqual([
            fid,
            length,
            chain,
            [...counted.slice(0, over), ...unknown(counted.slice(over))],
          ])
        }
        const [ofTwo, counted] = await both(fid, ['base', 'celo'], length)
        expect(ofTwo).toEqual(unknown(counted))
      }
    }
    expect(await keep()).toBe(0)
    // Stored payers are valid for one number of settlements and one set of addresses, and are recounted for any other.
    const ofBase = `fid = 0 and chain = 'base' and length = 'day'`
    const { rowCount } = await pool.query(`update series_payers set settlements = settlements + 1 where ${ofBase}`)
    const [lost, counted] = await both(null, ['base'], 'day')
    expect(lost).toEqual(unknown(counted))
    expect(await keep()).toBe(rowCount)
    await pool.query('update agent set verified_addresses = verified_addresses[1:1] where fid = 1')
    const [moved, ofOne] = await both(1, null, 'week')
    expect(moved).toEqual(unknown(ofOne))
    expect(await keep()).toBeGreaterThan(0)
    expect((await both(1, null, 'week'))[0][0]).toEqual(ofOne[0])
    expect(await keep(1_000_000)).toBe(0)
    expect((await pool.query('select from series_payers')).rowCount).toBe(0)
    await pool.query('update agent set verified_addresses = $1 where fid = 1', [addresses.slice(0, 2).map(bytesOf)])
  },
)

test('a point that is counted in slices keeps no smaller one waiting', async () => {
  const { pool } = database
  const [start, end] = [Date.UTC(2026, 4, 1), Date.UTC(2026, 5, 1)].map((at) => new Date(at).toISOString()) as [
    string,
    string,
  ]
  const tables = 'series_count, series_count_found, series_payers'
  const count = async (text: string) => (await pool.query(text)).rows[0].n as number
  const left = () => count('select coalesce(sum(to_block - next_block), 0)::int as n from series_count')
  await pool.query(`truncate ${tables}`)
  // So many that slices of one end long after the others are counted.
  await pool.query(
    `insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token,
                             payer, recipient, facilitator, payment_nonce, tx_hash)
     select 1, $1::timestamptz + n * interval '1 second', 10000 + n, 0, 'celo', 'c', '\\xe3ee160e', '\\x01', int4send(n),
            '\\x03', '\\x02', int4send(n), int4send(n)
       from generate_series(1, 50000) n`,
    [start],
  )
  expect(await beginCount(pool, { fid: 0, chain: '', length: 'month', overloads: false, start, end }, ['celo'])).toBe(
    true,
  )
  const before = await left()
  const options = { pool, now: () => new Date(now), settlementOverloads: 'spec', payersUpTo: 0 } as const
  while ((await count('select count(*)::int as n from series_payers')) === 0) {
    await refreshSeriesPayers({ ...options, atOnce: 20, slice: 1, roundMs: 2_000 })
  }
  expect(await left()).toBeGreaterThan(0)
  expect(await left()).toBeLessThan(before)
  await pool.query(`truncate ${tables}`)
  await pool.query('delete from settlement where block_number > 10000')
})

test('a point that is counted in slices goes on where its round ended, and from the start after a crash', async () => {
  const { pool } = database
  const start = Date.UTC(2026, 1, 1)
  const end = Date.UTC(2026, 2, 1)
  const point = { fid: 0, chain: '', length: 'month', overloads: false } as const
  const times = { start: new Date(start).toISOString(), end: new Date(end).toISOString() }
  const paid = rows.filter(({ at, selector }) => at >= start && at < end && selector === '0xe3ee160e')
  for (const crashAfter of [0, 40]) {
    await beginCount(pool, { ...point, ...times }, chains)
    await beginCount(pool, { ...point, ...times, length: 'day' }, chains) // one at a time
    for (let slice = 0; slice < crashAfter; slice++) expect(await countSlice(pool, 4)).toBe(true)
    if (crashAfter > 0) {
      await pool.query('truncate series_count, series_count_found')
      expect(await countSlice(pool, 4)).toBe(false)
      await beginCount(pool, { ...point, ...times }, chains)
    }
    let slices = 0
    while (await countSlice(pool, 4)) slices++
    expect(slices).toBeGreaterThan(paid.length / 5)
    const { rows: kept } = await pool.query(
      'delete from series_payers returning length, settlements::int, payers::int, median::float8 / 1e6 as median',
    )
    const payers = new Set(paid.map(({ payer }) => payer)).size
    const median = medianOf(paid.map(({ amount }) => amount))
    expect(kept).toEqual([{ length: 'month', settlements: paid.length, payers, median }])
  }
})

const bytesOf = (address: string) => Buffer.from(address.slice(2), 'hex')

type Chain = (typeof chains)[number]
interface Point {
  readonly settlements: number
  readonly unique_payers: number | null
  readonly median_usdc: number | null
}

test('hours of everybody follow those of the recipients, also where settlements go or those of a chain are taken back', async () => {
  const { pool } = database
  const sums = `
    select count(*)::int as wrong
      from (select chain, hour, overload, sum(n) as n, sum(amount) as amount from settlement_hourly group by 1, 2, 3) h
      full join settlement_hour_total t using (chain, hour, overload)
     where (h.n, h.amount) is distinct from (t.n, t.amount)`
  const wrong = async () => (await pool.query(sums)).rows[0].wrong
  const left = async () =>
    (await pool.query('select coalesce(sum(n), 0)::int as n from settlement_hour_total')).rows[0].n
  expect(await wrong()).toBe(0)
  const before = await left()
  const gone = await inTransaction(pool, async (db) => {
    await lockRollup(db, 'base')
    const { rows } = await db.query<MovedSettlement>(
      `delete from settlement where chain = 'base' and recipient = $1
          and not exists (select from settlement_unrolled u where u.chain = 'base' and block_number between u.from_block and u.to_block)
       returning ${movedColumns}`,
      [Buffer.from((addresses[0] as string).slice(2), 'hex')],
    )
    await subtractFromRollup(db, 'base', rows)
    return rows.length
  })
  expect(gone).toBeGreaterThan(0)
  expect(await left()).toBe(before - gone)
  expect(await wrong()).toBe(0)
  await deleteSums(pool, 'base')
  expect(await left()).toBeLessThan(before - gone)
  expect(await wrong()).toBe(0)
})

/** Median in dollars; of an even number of amounts the lower middle one. Null: no amounts. */
function medianOf(amounts: readonly bigint[]): number | null {
  const sorted = amounts.toSorted((one, other) => (one < other ? -1 : one > other ? 1 : 0))
  const median = sorted[Math.ceil(sorted.length / 2) - 1]
  return median === undefined ? null : Number(median) / 1e6
}
