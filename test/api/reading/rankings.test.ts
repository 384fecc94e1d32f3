import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { leaderboardAnswer } from '../../../api/schemas/leaderboard/leaderboard.ts'
import { rankingMeasures } from '../../../db/queries/leaderboard/leaderboard.ts'
import { refreshRankings } from '../../../db/queries/leaderboard/rankings.ts'
import { derivations } from '../../../derive/derivations.ts'
import { settle } from '../../../derive/pass.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { runIncome } from '../../derive/passes.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { addressOf, hashOf, insert, seedAgent, seedChainState } from '../../support/seed.ts'
import { addresses, dayMs, now, oracle, type Paid, periods } from './ranking-oracle.ts'

const people = [...new Set(Object.values(addresses).flat()), ...['x', 'y', 'z'].map(addressOf)]
const chains = ['base', 'celo'] as const

const database = testDatabase()
let api: TestApi
beforeAll(async () => {
  api = await startApi(database, { now: () => now })
  for (const [name, own] of Object.entries(addresses)) {
    const fid = Number(name)
    await seedAgent(database.pool, { fid, addresses: [...own] })
    await insert(database.pool, 'agent_change', { fid, kind: 'upsert', changed_at: new Date(now) })
  }
})
afterAll(() => api.stop())

/** Days of history. Blocks are a minute apart; block 0 is that many days ago. */
const days = 45
const blockOf = (at: number) => Math.floor((at - (now - days * dayMs)) / 60_000)

async function store(rows: readonly Paid[], finalized: number) {
  const { pool } = database
  await pool.query(
    `insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token,
                             payer, recipient, facilitator, payment_nonce, tx_hash)
     select amount, at, block, n, chain, 'c', selector, '\\x01', payer, recipient, '\\x02', nonce, nonce
       from json_to_recordset($1) as r (amount bigint, at timestamptz, block int, n int, chain text, selector bytea,
                                        payer bytea, recipient bytea, nonce bytea)`,
    [
      JSON.stringify(
        rows.map(({ chain, at, recipient, payer, amount, overload }, n) => ({
          amount,
          at: new Date(at).toISOString(),
          block: blockOf(at),
          n,
          chain,
          selector: overload ? '\\xcf092995' : '\\xe3ee160e',
          payer: `\\x${payer.slice(2)}`,
          recipient: `\\x${recipient.slice(2)}`,
          nonce: `\\x${hashOf(`${n} ${at}`).slice(2)}`,
        })),
      ),
    ],
  )
  await pool.query('delete from chain_state')
  for (const chain of chains) await seedChainState(pool, { chain, indexed: blockOf(now), finalized })
  while ((await rollUpSettlements({ pool })) > 0);
  while ((await runIncome({ pool })) > 0);
}

const empty = () =>
  database.pool.query(`
    truncate agent_figure, agent_demand, figure_derivation, agent_payer_hour, payer_move, settlement, settlement_hourly, settlement_hour_total, facilitator_total, settlement_total, settlement_payer, chain_state, ranking, ranking_day, ranking_round,
             income_hour, income_total, income_agent, income_ring, circle_reach;
    delete from due where kind in ('income hours', 'demand');
    update settlement_rollup set next_block = 0`)

const demand = derivations.filter(({ kind }) => kind === 'demand')
async function round(at: number, settlementOverloads: 'spec' | 'all' = 'spec') {
  const context = { pool: database.pool, now: () => new Date(at), settlementOverloads }
  await settle(demand, context)
  await refreshRankings(context)
}

const anyPaid = fc.record({
  chain: fc.constantFrom(...chains),
  at: fc.integer({ min: 1, max: days * 24 * 60 - 1 }).map((minutes) => now - minutes * 60_000),
  recipient: fc.constantFrom(...people),
  payer: fc.constantFrom(...people),
  amount: fc.integer({ min: 0, max: 3 }),
  overload: fc.boolean(),
})

test('every kept ranking is what counting the settlements comes to, however far they are rolled up', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyPaid, { minLength: 20, maxLength: 80 }),
      fc.integer({ min: -1, max: days * 24 * 60 }),
      fc.constantFrom('spec' as const, 'all' as const),
      async (rows, finalized, overloads) => {
        await empty()
        await store(rows, finalized)
        // A round two days ago leaves rows that the next round has to replace.
        await round(now - 2 * dayMs, 'all')
        await round(now, overloads)
        const counted = rows.filter(({ overload }) => overloads === 'all' || !overload)
        // Ring payments are no filtered income; another test covers which payments are found to be rings.
        const { rows: rings } = await database.pool.query<{ recipient: Buffer; payer: Buffer }>(
          'select recipient, payer from income_ring',
        )
        const pairs = new Set(
          rings.map((ring) => `0x${ring.recipient.toString('hex')} 0x${ring.payer.toString('hex')}`),
        )
        const final = rows.filter(
          ({ at, recipient, payer }) => blockOf(at) <= finalized && !pairs.has(`${recipient} ${payer}`),
        )
        const { rows: kept } = await database.pool.query(
          `select period, measure, chain, own, rank, fid::int, settlements::int as settlement_count,
                  volume::float8 / 1e6 as volume_usdc, payers::int as unique_payers, income_n::int,
                  income::float8 / 1e6 as income_usdc, repeat_payers::int, newest_at
             from ranking order by period, measure, chain, own, rank`,
        )
        const expected = periods.flatMap((period) =>
          rankingMeasures.flatMap((measure) =>
            ['', ...chains].flatMap((chain) =>
              [false, true].flatMap((own) =>
                oracle(counted, final, { period, by: measure, chain: chain || null, excludeSelf: !own }).map(
                  ({ last_settlement_at, ...row }) => ({
                    period,
                    measure,
                    chain,
                    own,
                    ...row,
                    newest_at: last_settlement_at === null ? null : new Date(last_settlement_at),
                  }),
                ),
              ),
            ),
          ),
        )
        const inOrder = (ranks: object[]) => ranks.map((row) => JSON.stringify(row, Object.keys(row).sort())).sort()
        expect(inOrder(kept)).toEqual(inOrder(expected))
      },
    ),
    { numRuns: 4, endOnFailure: true },
  )
})

const read = async (query: string) => {
  const response = await api.get(`/api/leaderboard?${query}`)
  expect(response.status).toBe(200)
  return leaderboardAnswer.parse(await response.json())
}

test('a week of rounds: the ranks of its days, and how far agents have moved since', async () => {
  await empty()
  const paid = (fid: number, daysAgo: number, count: number, payer = 'x'): Paid[] =>
    Array.from({ length: count }, (_, n) => ({
      chain: 'base',
      at: now - daysAgo * dayMs - (n + 1) * 60_000,
      recipient: addresses[fid]?.[0] as string,
      payer: addressOf(payer),
      amount: 1_000,
      overload: false,
    }))
  const week: Record<number, Paid[]> = {
    8: [...paid(1, 8, 3), ...paid(2, 8, 2)],
    7: [...paid(3, 7, 1)],
    3: [...paid(2, 3, 2)],
    1: [...paid(3, 1, 9), ...paid(1, 1, 1, 'b1')],
    0: [...paid(4, 0, 6)],
  }
  let seeded: Paid[] = []
  for (let daysAgo = 8; daysAgo >= 0; daysAgo--) {
    const more = week[daysAgo] ?? []
    seeded = [...seeded, ...more]
    if (more.length > 0) await store(more, blockOf(now - daysAgo * dayMs))
    // Two rounds a day: the ranks of the first are the ones kept for that day.
    await round(now - daysAgo * dayMs)
    await round(now - daysAgo * dayMs)
  }
  // Fids by rank over all of the past, at each round by days ago: 8: 1 2; 7: 1 2 3; 3: 2 1 3; 1: 3 2 1; now: 3 4 1 2.
  const { agents, compared_at } = await read('period=all&change=7d')
  expect(compared_at).toBe(new Date(now - 7 * dayMs).toISOString())
  const moves = (rows: typeof agents) => rows.map((row) => [row.rank, row.fid, row.previous_rank, row.rank_change])
  expect(moves(agents)).toEqual([
    [1, 3, 3, 2],
    [2, 4, null, null],
    [3, 1, 1, -2],
    [4, 2, 2, -2],
  ])
  expect(moves((await read('period=all&change=1d&chain=base')).agents)).toEqual([
    [1, 3, 1, 0],
    [2, 4, null, null],
    [3, 1, 2, -1],
    [4, 2, 3, -1],
  ])
  // A ranking by another measure or filter is compared with its own past.
  expect(moves((await read('period=all&change=7d&exclude_self=true&by=volume')).agents)).toEqual([
    [1, 3, 3, 2],
    [2, 4, null, null],
    [3, 2, 2, -1],
    [4, 1, 1, -3],
  ])
  const month = await read('period=all&change=30d')
  expect(month.compared_at).toBeNull()
  expect(moves(month.agents).every(([, , previous, change]) => previous === null && change === null)).toBe(true)
})

test('a ranking says that it is empty because nothing was counted yet, and then that it was', async () => {
  await empty()
  expect(await read('by=volume&limit=20')).toMatchObject({ count: 0, counted: false })
  await round(now)
  expect(await read('by=volume&limit=21')).toMatchObject({ count: 0, counted: true })
})

test('by income agents stand who have no settlement that counts, without what they paid themselves', async () => {
  await empty()
  const paid = { chain: 'base', at: now - dayMs, amount: 2_000_000, overload: true } as const
  const one = { ...paid, recipient: addressOf('a4'), payer: addressOf('x') }
  const itself = { ...paid, recipient: addressOf('a1'), payer: addressOf('b1'), overload: false }
  await store([one, itself], blockOf(now))
  await round(now)
  const { agents } = await read('by=income&chain=Base')
  expect(agents).toMatchObject([
    { fid: 4, income_usdc: 2, income_payments: 1, settlement_count: 0, unique_payers: 0, last_settlement_at: null },
  ])
  expect((await read('by=volume')).agents.map(({ fid }) => fid)).toEqual([1])
  expect(Object.keys((await read('by=volume')).agents[0] as object)).not.toContain('income_usdc')
})

test('by repeat payers agents stand to whom somebody came back, with what they earned', async () => {
  await empty()
  const paid = (recipient: string, payer: string, daysAgo: number) =>
    ({
      chain: 'base',
      at: now - daysAgo * dayMs,
      amount: 1_000_000,
      overload: false,
      recipient: addressOf(recipient),
      payer: addressOf(payer),
    }) as const
  const twice = [paid('a4', 'x', 40), paid('a4', 'x', 2), paid('a4', 'y', 40), paid('a4', 'y', 20), paid('a4', 'z', 1)]
  const itself = [paid('a1', 'b1', 2), paid('a1', 'b1', 1), paid('a1', 'x', 1)]
  await store([...twice, ...itself], blockOf(now))
  await round(now)
  const { agents } = await read('by=repeat_payers&period=30d')
  expect(agents).toMatchObject([{ fid: 4, repeat_payers: 2, income_usdc: 3, income_payments: 3, unique_payers: 3 }])
  expect((await read('by=repeat_payers&period=7d')).agents).toMatchObject([{ fid: 4, repeat_payers: 1 }])
  expect(Object.keys((await read('by=income')).agents[0] as object)).not.toContain('repeat_payers')
})

test('one chain counts, and an unknown one has nobody; old questions have their old answer', async () => {
  expect((await read('by=payers&chain=OP')).agents).toEqual([])
  expect((await read('by=volume&chain=nowhere')).agents).toEqual([])
  const fids = async (query: string) => (await read(query)).agents.map(({ fid }) => fid)
  expect(await fids('period=all&chain=Base&chain=Celo')).toEqual(await fids('period=all&chain=8453'))
  const old = await read('period=all&by=settlements&change=never&exclude_self=perhaps&chain=')
  expect(Object.keys(old)).toEqual(['period', 'limit', 'count', 'generated_at', 'agents'])
  expect(old.agents).toEqual((await read('period=all')).agents)
})

test('ranks are kept for a hundred days', async () => {
  await empty()
  await store(
    [
      {
        chain: 'base',
        at: now - 40 * dayMs,
        recipient: addressOf('a1'),
        payer: addressOf('x'),
        amount: 1,
        overload: false,
      },
    ],
    blockOf(now),
  )
  for (const daysAgo of [103, 102, 101, 100, 99, 0]) await round(now - daysAgo * dayMs)
  const { rows } = await database.pool.query(
    `select day, (select count(*)::int from ranking_day d where d.day = r.day) as ranks from ranking_round r order by day`,
  )
  expect(rows.map(({ ranks }) => ranks > 0)).toEqual([true, true, true])
  const utcDay = (daysAgo: number) => new Date(now - daysAgo * dayMs).toISOString().slice(0, 10)
  const { rows: left } = await database.pool.query(`select day::text from ranking_round order by day`)
  expect(left.map(({ day }) => day)).toEqual([100, 99, 0].map(utcDay))
})

test('a clock that was a year ahead leaves no day behind it, and no later round without one', async () => {
  await empty()
  const { pool } = database
  const paid = { chain: 'base', at: now - dayMs, amount: 1, overload: false } as const
  await store([{ ...paid, recipient: addressOf('a1'), payer: addressOf('x') }], blockOf(now))
  for (const daysAgo of [0, -365, 0, -1]) await round(now - daysAgo * dayMs)
  const { rows } = await pool.query(
    `select r.day::text, counted_at, count(d)::int > 0 as ranks from ranking_round r left join ranking_day d using (day)
      group by r.day order by r.day`,
  )
  const expected = [0, 1].map((day) => new Date(now + day * dayMs))
  expect(rows).toEqual(expected.map((at) => ({ day: at.toISOString().slice(0, 10), counted_at: at, ranks: true })))
  expect((await pool.query('select distinct day from ranking_day')).rows).toHaveLength(2)
  await round(now)
  expect((await read('by=volume&limit=22')).generated_at).toBe(new Date(now).toISOString())
})

test('a full ranking has its first thousand, whoever came, was overtaken, or lost what left a window', async () => {
  await empty()
  const { pool } = database
  const most = 1_300
  await pool.query(
    `with made as (
       insert into verified_address (fid, address, verified_at)
       select 1000 + n, int4send(n), '2026-01-01' from generate_series(1, $1::int) n returning fid, address
     )
     insert into agent (fid, chains, verified_addresses, claimed, agent_status, search, registered_at, listed_at, changed_at)
     select fid, '{base}', array[address], false, 'active', '', '2026-01-01', '2026-01-01', '2026-01-01' from made`,
    [most],
  )
  const pay = async (count: number, from: number, until: number) => {
    await pool.query(
      `insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token,
                               payer, recipient, facilitator, payment_nonce, tx_hash)
       select n * 37 % 11, at, extract(epoch from at - $4::timestamptz)::int / 60, $5::int + n, case when n % 3 = 0 then 'celo' else 'base' end,
              'c', '\\xe3ee160e', '\\x01', int4send(-1 - n * 29 % 17), int4send(1 + (hashint4(n + $5) & 65535) * n % $6::int), '\\x02',
              int4send($5 + n), int4send($5 + n)
         from generate_series(1, $1::int) n
        cross join lateral (select $2::timestamptz + ($3::timestamptz - $2) * n / $1::int as at) one`,
      [count, new Date(from), new Date(until), new Date(now - days * dayMs), from % 1_000_000, most],
    )
  }
  const finalize = async (at: number) => {
    await pool.query('delete from chain_state')
    for (const chain of chains) await seedChainState(pool, { chain, indexed: blockOf(now), finalized: blockOf(at) })
    while ((await rollUpSettlements({ pool })) > 0);
  }
  const values =
    'period, measure, chain, own, rank::int, fid::int, settlements::int, volume::int, payers::int, newest_at'
  const counted = `
    with window_of (period, since) as (
      values ('7d', $1::timestamptz - interval '7 days'), ('30d', $1::timestamptz - interval '30 days'), ('all', '-infinity')
    ),
    figure as (
      select period, v.fid, coalesce(s.chain, '') as chain, count(*) as settlements, sum(s.amount) as volume, count(distinct s.payer) as payers
        from settlement s join verified_address v on v.address = s.recipient join window_of on s.block_timestamp > since
       group by grouping sets ((period, v.fid, s.chain), (period, v.fid))
    ),
    newest as (
      select v.fid, coalesce(s.chain, '') as chain, max(s.block_timestamp) as newest_at
        from settlement s join verified_address v on v.address = s.recipient
       group by grouping sets ((v.fid, s.chain), (v.fid))
    ),
    ranked as (
      select *, row_number() over (partition by period, measure, chain, own
                                   order by case measure when 'volume' then volume when 'payers' then payers else settlements end desc,
                                            case measure when 'settlements' then volume else settlements end desc, volume desc, fid) as rank
        from figure join newest using (fid, chain)
       cross join (values ('settlements'), ('volume'), ('payers')) as by (measure)
       cross join (values (true), (false)) as one (own)
    )
    select ${values} from ranked where rank <= 1000 order by period, measure, chain, own, rank`
  const expectCounted = async (at: number) => {
    await round(at)
    const { rows } = await pool.query(`select ${values} from ranking order by period, measure, chain, own, rank`)
    expect(rows).toEqual((await pool.query(counted, [new Date(at)])).rows)
    return rows.length
  }
  const figures = derivations.filter(({ kind }) => kind === 'figures')
  const derive = (at: number) => settle(figures, { pool, now: () => new Date(at), settlementOverloads: 'spec' })
  await pay(6_000, now - 40 * dayMs, now - 10 * dayMs)
  await finalize(now - 20 * dayMs)
  expect(await expectCounted(now - 10 * dayMs)).toBeGreaterThan(6_000)
  for (const daysAgo of [6, 0]) {
    const at = now - daysAgo * dayMs
    await pay(800, at - 3 * dayMs, at)
    await expectCounted(at)
    await finalize(at - dayMs)
    await derive(at)
    await expectCounted(at)
  }
  await pool.query('delete from agent where fid % 7 = 0')
  await pool.query('delete from verified_address where fid % 7 = 0')
  await expectCounted(now)
})
