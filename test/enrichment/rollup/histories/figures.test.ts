import fc from 'fast-check'
import type pg from 'pg'
import { beforeEach, expect, test } from 'vitest'
import { inTransaction } from '../../../../db/pool.ts'
import { leaderboard, leaderboardPeriods } from '../../../../db/queries/leaderboard/leaderboard.ts'
import { refreshRankings } from '../../../../db/queries/leaderboard/rankings.ts'
import { allFigureSteps, markOtherFigures } from '../../../../db/queries/rollup/agent-figures.ts'
import { deriveAgain } from '../../../../derive/again.ts'
import { derivations } from '../../../../derive/derivations.ts'
import { derivePass, settle } from '../../../../derive/pass.ts'
import { refreshCounts } from '../../../../enrichment/periodic/rollup.ts'
import { testDatabase } from '../../../support/database.ts'
import { rounds } from '../../../support/rounds.ts'
import { insert, seedAgent } from '../../../support/seed.ts'
import { empty, finalize, payers, recipients, rollUp, store, timeOf } from '../world.ts'
import { expectCounts } from './count-oracle.ts'
import { claims, steps, World } from './steps.ts'

const database = testDatabase()
beforeEach(reset)
const hourMs = 3_600_000
const fids = [1, 2, 3]
const kinds = derivations.filter(({ kind }) => kind === 'figures')
/** Random histories that are tried. */
const histories = rounds(3, 30)

/** Agents may share addresses, and pay themselves. */
const anyAddresses = fc.subarray([...recipients, payers[0] as string])
const fid = fc.constantFrom(...fids)
/** What happens outside the chains. `null`: the account is no longer an agent. */
const others = {
  verify: fc.record({ fid, addresses: fc.option(anyAddresses, { freq: 9 }) }),
  wait: fc.record({ hours: fc.constantFrom(1, 1, 5, 24, 100, -5, -50) }),
  derive: fc.record({ whole: fc.boolean() }),
  earn: fc.record({ fid, block: fc.integer({ min: 0, max: 1_500 }), amount: fc.integer({ min: 0, max: 9 }) }),
  'count others': fc.constant({}),
}
type Kind = keyof typeof others
interface Other {
  readonly kind: Kind
  readonly fid: number
  readonly addresses: readonly string[] | null
  readonly hours: number
  readonly whole: boolean
  readonly block: number
  readonly amount: number
}
const weighed: Kind[] = ['verify', 'wait', 'wait', 'derive', 'derive', 'derive', 'earn', 'count others']
const other = fc.oneof(
  ...weighed.map((kind) => (others[kind] as fc.Arbitrary<object>).map((values) => ({ kind, ...values }) as Other)),
)

const windows = { last_7d: '7 days', last_30d: '30 days', ever: null }
const names = Object.keys(windows)
const values = [
  'newest_at',
  ...names.flatMap((name) => [name, `${name}_amount`, `${name}_payers`, `earned_${name}`, `earned_${name}_amount`]),
]
const columns = `fid::int, chain, own, ${values.map((name) => `${name}::text`).join(', ')}`
const sorted = 'order by fid, chain, own'
const isIn = (window: string | null, time: string) =>
  window === null ? 'true' : `${time} >= date_trunc('hour', $1::timestamptz - interval '${window}', 'UTC')`
const eachWindow = (expression: (name: string, window: string | null) => string) =>
  Object.entries(windows)
    .map(([name, window]) => expression(name, window))
    .join(', ')

/** The figures counted from the settlements themselves. $2: whether overloads count; $3: whether those do that are not rolled up. */
const counted = `
with fact as (
  select * from settlement s
   where ($2 or s.selector in ('\\xe3ee160e', '\\xef55bec6'))
     and ($3 or not exists (select from settlement_unrolled u
                             where u.chain = s.chain and s.block_number between u.from_block and u.to_block))
),
paid as (
  select a.fid, coalesce(s.chain, '') as chain, own, max(s.block_timestamp) filter (where own or not is_own) as newest_at,
         ${eachWindow((name, window) => {
           const filter = `filter (where (own or not is_own) and ${isIn(window, 's.block_timestamp')})`
           return `count(*) ${filter} as ${name}, sum(s.amount) ${filter} as ${name}_amount, count(distinct s.payer) ${filter} as ${name}_payers`
         })}
    from agent a
    join fact s on s.recipient = any (a.verified_addresses)
   cross join lateral (select s.payer = any (a.verified_addresses) as is_own) payer
   cross join (values (true), (false)) as one (own)
   group by grouping sets ((a.fid, own, s.chain), (a.fid, own))
),
earned as (
  select a.fid, coalesce(h.chain, '') as chain, own,
         ${eachWindow((name, window) => {
           const filter = `filter (where ${isIn(window, 'h.hour')})`
           return `sum(h.n) ${filter} as earned_${name}, sum(h.amount) ${filter} as earned_${name}_amount`
         })}
    from agent a
    join income_hour h on h.fid = a.fid and h.flag = 'none'
   cross join (values (true), (false)) as one (own)
   group by grouping sets ((a.fid, own, h.chain), (a.fid, own))
)
select fid::int, chain, own, newest_at::text, ${values
  .slice(1)
  .map((name) => `coalesce(${name}, 0)::text as ${name}`)
  .join(', ')}
  from paid full join earned using (fid, chain, own) ${sorted}`

const ofEverybody = {
  by: 'settlements',
  chain: null,
  excludeSelf: false,
  daysAgo: null,
  limit: 10,
  now: 0,
  leftOut: () => {},
} as const
const spans = { '7d': '7 days', '30d': '30 days', all: null }
/** A leaderboard counted from the settlements themselves. */
const ranked = `
select (row_number() over (order by count(*) desc, sum(s.amount) desc, a.fid))::int as rank, a.fid::int,
       count(*)::int as settlement_count, count(distinct s.payer)::int as unique_payers,
       (sum(s.amount) * 0.000001)::float8 as volume_usdc
  from agent a
  join settlement s on s.recipient = any (a.verified_addresses)
 where ($1 or s.selector in ('\\xe3ee160e', '\\xef55bec6')) and ($2::interval is null or s.block_timestamp > $3::timestamptz - $2)
 group by a.fid
 order by rank`

const rowsOf = async (text: string, values: unknown[] = []) => (await database.pool.query(text, values)).rows
const stored = () => rowsOf(`select ${columns} from agent_figure ${sorted}`)

/** An installation: its clock, and which settlements count. */
class Installation {
  now = new Date(+timeOf(1_500))
  settlementOverloads: 'spec' | 'all' = 'spec'
  readonly pool: pg.Pool = database.pool

  context() {
    const { pool, now, settlementOverloads } = this
    return { pool, now: () => now, settlementOverloads }
  }

  async take({ kind, fid, addresses, hours, whole, block, amount }: Other): Promise<void> {
    switch (kind) {
      case 'verify':
        return verify(fid, addresses)
      case 'wait':
        this.now = new Date(+this.now + hours * hourMs)
        return
      case 'earn':
        await this.pool.query(
          `insert into income_hour as h (fid, hour, recipient, chain, kind, flag, x402, first_at, last_at, n, amount, dust_n, dust_amount)
           select $1, hour, '\\x01', 'base', 'eip3009_vrs', $4, false, hour, hour, 1, $3, 0, 0
             from date_trunc('hour', $2::timestamptz, 'UTC') as hour
               on conflict (fid, hour, recipient, chain, kind, flag, x402, passed_on) do update
              set n = h.n + 1, amount = h.amount + excluded.amount`,
          [fid, timeOf(block), amount, amount === 9 ? 'self' : 'none'],
        )
        if (amount === 0) await this.pool.query(`delete from income_hour where fid = $1 and amount > 4`, [fid])
        await this.pool.query(
          `with gone as (delete from income_agent where fid = $1)
           insert into income_agent
           select fid, chain, sum(n), sum(amount) from income_hour where fid = $1 and flag = 'none' group by 1, 2
               on conflict (fid, chain) do update set n = excluded.n, amount = excluded.amount`,
          [fid],
        )
        return
      case 'count others':
        this.settlementOverloads = this.settlementOverloads === 'all' ? 'spec' : 'all'
        return
      case 'derive':
        if (!whole) {
          // A part of what is due, as when the job ends in the middle.
          for (const one of kinds) await derivePass({ ...one, batch: 1 }, this.context())
          return
        }
        await markOtherFigures(this.pool, this)
        await settle(kinds, this.context())
    }
  }

  /** Asserts that what is stored is what is rolled up, as far as it was derived with what counts now. */
  async expectStored(): Promise<void> {
    const { now, settlementOverloads } = this
    const others = await rowsOf('select from figure_derivation where overloads <> $1', [settlementOverloads === 'all'])
    if (others.length > 0) return
    expect(await stored()).toEqual(await rowsOf(counted, [now, settlementOverloads === 'all', false]))
  }

  /** Asserts that figures, whatever of them is derived, are those of all settlements there are. */
  async expectExact(): Promise<void> {
    const asked = [this.now, this.settlementOverloads === 'all']
    const rows = await rowsOf(
      `select ${columns} from (${allFigureSteps} select * from figure union all select * from derived) f ${sorted}`,
      asked,
    )
    expect(rows).toEqual(await rowsOf(counted, [...asked, true]))
    await this.expectLeaderboards()
  }

  /** Asserts that leaderboards are those of all settlements there are, to the millisecond. */
  async expectLeaderboards(): Promise<void> {
    const { pool, now, settlementOverloads } = this
    await refreshCounts(this.context())
    await expectCounts(pool, this)
    await refreshRankings(this.context())
    for (const period of leaderboardPeriods) {
      const ranking = JSON.parse(await leaderboard(pool, { ...ofEverybody, period }))
      const { rows } = await pool.query(ranked, [settlementOverloads === 'all', spans[period], now])
      expect(ranking).toMatchObject({ count: rows.length, agents: rows })
    }
  }
}

async function reset(): Promise<void> {
  await empty(database)
  await database.pool.query(
    `truncate agent, verified_address, agent_change, agent_figure, figure_derivation, agent_payer_hour, payer_move, due, recipient_counts, ranking, ranking_day, ranking_round,
              income_hour, income_agent, income_total cascade`,
  )
}

async function verify(fid: number, addresses: readonly string[] | null): Promise<void> {
  const { pool } = database
  await inTransaction(pool, async (db) => {
    await db.query('delete from agent where fid = $1', [fid])
    await db.query('delete from verified_address where fid = $1', [fid])
  })
  if (addresses) await seedAgent(pool, { fid, addresses: [...addresses] })
  await insert(pool, 'agent_change', { fid, kind: addresses ? 'upsert' : 'delist', changed_at: new Date() })
}

test('figures of agents are those of the settlements, whatever happens to chains, accounts and time', async () => {
  const run = fc.tuple(
    claims,
    steps,
    fc.array(other, { minLength: 20, maxLength: 30 }),
    fc.array(anyAddresses, { minLength: 3, maxLength: 3 }),
  )
  await fc.assert(
    fc
      .asyncProperty(run, async ([first, then, happenings, held]) => {
        const world = new World(database)
        const installation = new Installation()
        for (const [index, addresses] of held.entries()) await verify(fids[index] as number, addresses)
        const happening = happenings[Symbol.iterator]()
        for (const step of [...first, ...then]) {
          await world.take(step)
          const next = happening.next()
          if (!next.done) await installation.take(next.value)
          // What an agent paid itself in a window is read from settlements: nobody archives those of the last month.
          if (world.archived) continue
          await installation.expectExact()
          if (next.value?.whole) await installation.expectStored()
        }
        await world.take({ ...then[0], kind: 'restore' } as (typeof then)[number])
        await settle(kinds, installation.context())
        await installation.expectExact()
        await deriveAgain({ kinds, context: installation.context(), tell: () => {} })
        await installation.expectStored()
        expect(await rowsOf('select * from payer_move')).toEqual([])
        const kept = () => rowsOf('select * from agent_payer_hour order by fid, chain, hour')
        const before = [await stored(), await kept()]
        await database.pool.query('update agent_payer_hour set payers = payers + 1 where fid = 1')
        await database.pool.query('delete from agent_payer_hour where fid = 2')
        await database.pool.query('update agent_figure set newest_at = null, ever = 0')
        await deriveAgain({ kinds, context: installation.context(), tell: () => {} })
        expect([await stored(), await kept()]).toEqual(before)
      })
      .beforeEach(reset),
    { numRuns: histories, endOnFailure: true },
  )
})

test('figures are those of windows that begin earlier again when the clock is set back', async () => {
  const { pool } = database
  const installation = new Installation()
  await verify(1, [recipients[1] as string])
  await store(
    pool,
    [1, 20, 50].map((block, logIndex) => ({
      chain: 'base' as const,
      block,
      logIndex,
      recipient: 1,
      payer: 0,
      selector: 0,
      amount: 5n,
    })),
  )
  await finalize(database, 'base', 100)
  await rollUp(database, 10)
  const thirtyDays = 30 * 24 * hourMs
  const derive = () => installation.take({ kind: 'derive', whole: true } as Other)
  installation.now = new Date(+timeOf(50) + thirtyDays)
  await derive()
  await installation.expectStored()
  installation.now = timeOf(100)
  await installation.expectExact()
  await derive()
  await installation.expectStored()
  expect(await rowsOf(`select last_30d::int as n from agent_figure where chain = '' and own`)).toEqual([{ n: 3 }])
})

test('figures count who paid while an address was not the agent’s for a while, though nothing was derived in between', async () => {
  const { pool } = database
  const installation = new Installation()
  const paid = { chain: 'base' as const, recipient: 1, selector: 0, amount: 5n }
  await verify(1, [recipients[1] as string])
  await store(pool, [{ ...paid, block: 1, logIndex: 0, payer: 0 }])
  await finalize(database, 'base', 10)
  await rollUp(database, 10)
  await settle(kinds, installation.context())
  await verify(1, [])
  await store(pool, [{ ...paid, block: 20, logIndex: 0, payer: 1 }])
  await finalize(database, 'base', 30)
  await rollUp(database, 10)
  await verify(1, [recipients[1] as string])
  await installation.expectExact()
  await settle(kinds, installation.context())
  await installation.expectStored()
})

test('figures whose counting has begun are derived though the clock is set back', async () => {
  const installation = new Installation()
  await verify(1, [])
  await installation.take({ kind: 'earn', fid: 1, block: 2, amount: 7 } as Other)
  await installation.take({ kind: 'derive', whole: false } as Other)
  installation.now = new Date(+installation.now - 5 * hourMs)
  await installation.take({ kind: 'derive', whole: true } as Other)
  await installation.expectStored()
})

test('figures come due by themselves when an hour leaves a window, and not before', async () => {
  const { pool } = database
  const installation = new Installation()
  installation.now = timeOf(60)
  for (const fid of [1, 2]) await verify(fid, [recipients[fid] as string])
  const paid = [
    { block: 0, recipient: 1, payer: 0 },
    { block: 1, recipient: 1, payer: 1 },
    { block: 5, recipient: 1, payer: 0 },
    { block: 5, recipient: 2, payer: 1 },
    { block: 50, recipient: 2, payer: 0 },
  ]
  await store(
    pool,
    paid.map((one, logIndex) => ({ chain: 'base', logIndex, selector: 0, amount: 5n, ...one })),
  )
  await finalize(database, 'base', 100)
  await rollUp(database, 10)
  await installation.take({ kind: 'earn', fid: 3, block: 3, amount: 7 } as Other)
  await verify(3, [])
  const nextDue = async () =>
    (await rowsOf(`select min(due_at) as at from due where kind = 'figures'`))[0].at as Date | null
  const moments: Date[] = []
  for (;;) {
    await settle(kinds, installation.context())
    const before = await stored()
    await installation.expectStored()
    const at = await nextDue()
    if (!at) break
    moments.push(at)
    installation.now = new Date(+at - 1)
    await settle(kinds, installation.context())
    expect(await stored()).toEqual(before)
    await installation.expectStored()
    installation.now = at
    await installation.expectExact()
  }
  const hours = [timeOf(0), timeOf(1), timeOf(3), timeOf(5), timeOf(50)].map((at) => Math.floor(+at / hourMs) + 1)
  const leaving = [7, 30].flatMap((days) => hours.map((hour) => (hour + days * 24) * hourMs))
  expect(moments.map(Number)).toEqual([...new Set(leaving)].sort((a, b) => a - b))
})
