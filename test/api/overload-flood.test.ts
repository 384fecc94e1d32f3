import type pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { leaderboard } from '../../db/queries/leaderboard/leaderboard.ts'
import { refreshRankings } from '../../db/queries/leaderboard/rankings.ts'
import { markOtherFigures } from '../../db/queries/rollup/agent-figures.ts'
import { agentSettlements } from '../../db/queries/settlements/settlements.ts'
import { derivations } from '../../derive/derivations.ts'
import { settle } from '../../derive/pass.ts'
import { rollUpSettlements } from '../../enrichment/periodic/rollup.ts'
import { startApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, countSettlements, seedAgent, seedChainState, seedSettlement } from '../support/seed.ts'

// A recipient of very many overloads, which are not shown, and ten settlements that are. FLOOD=10000000 runs the size
// that is promised; the default shows the same by the number of rows read.

const flood = Number(process.env.FLOOD ?? 200_000)
const shown = 10

const database = testDatabase()
beforeAll(async () => {
  const { pool } = database
  const address = addressOf('flooded')
  await seedAgent(pool, { fid: 1, addresses: [address] })
  await pool.query(
    `insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token,
                             payer, recipient, facilitator, payment_nonce, tx_hash)
     select 1, timestamptz '2026-01-01' + n * interval '10 seconds', n, 0, 'base', 'c', '\\xcf092995', '\\x01', int4send(n),
            $1, '\\x02', int4send(n), int4send(n)
       from generate_series(1, $2::int) n`,
    [Buffer.from(address.slice(2), 'hex'), flood],
  )
  for (let n = 1; n <= shown; n++) {
    const block = Math.floor((n * flood) / (shown + 1))
    const at = new Date(Date.parse('2026-01-01T00:00:00Z') + block * 10_000)
    await seedSettlement(pool, { chain: 'base', recipient: address, block, logIndex: 9, at })
  }
  await seedChainState(pool, { chain: 'base', indexed: flood, finalized: flood })
  while ((await rollUpSettlements({ pool })) > 0);
  await countSettlements(pool)
  await pool.query('vacuum (analyze)')
}, 1_800_000)

/** Rows of settlements and of their sums that the statements of `ask` read. */
async function rowsRead(ask: (client: pg.PoolClient) => Promise<unknown>) {
  const client = await database.pool.connect()
  try {
    await client.query('begin')
    const read = async () => {
      const { rows } = await client.query(
        `select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::int as read
           from pg_stat_xact_user_tables where relname like 'settlement%'`,
      )
      return rows[0].read as number
    }
    const before = await read()
    await ask(client)
    return (await read()) - before
  } finally {
    await client.query('rollback')
    client.release(true)
  }
}

test('the few that are shown are found without reading those that are not', async () => {
  const read = await rowsRead(async (client) => {
    const body = await agentSettlements(client, { fid: 1, limit: 100, settlementOverloads: 'spec' })
    expect(JSON.parse(body as string).count).toBe(shown)
  })
  // For each shown settlement the 360 rows of its hour, and the sums of all hours.
  expect(read).toBeLessThan(shown * 400 + flood / 360 + 1_000)
})

const figures = derivations.filter(({ kind }) => kind === 'figures')
async function keepPayers(settlementOverloads: 'spec' | 'all') {
  const now = new Date()
  await markOtherFigures(database.pool, { settlementOverloads, now })
  const context = { pool: database.pool, now: () => now, settlementOverloads }
  await settle(figures, context)
  await refreshRankings(context)
}
const ofAll = { period: 'all', by: 'settlements', chain: null, excludeSelf: false, daysAgo: null, now: 0 } as const
const leftOut = (fid: number) => expect.unreachable(`${fid} is left out`)
test('a ranking tells how many paid without reading who did', async () => {
  await keepPayers('all')
  const read = await rowsRead(async (client) => {
    const body = await leaderboard(client, { ...ofAll, limit: 100, leftOut })
    expect(JSON.parse(body).agents).toMatchObject([
      { fid: 1, settlement_count: flood + shown, unique_payers: flood + 1 },
    ])
  })
  expect(read).toBeLessThan(flood / 360 + 1_000)
})

test('every request is answered, whatever it asks for', async () => {
  await keepPayers('spec')
  const api = await startApi(database)
  const times: number[] = []
  for (let n = 1; n <= 100; n++) {
    for (const path of [`/api/agent/1/settlements?limit=${n}`, `/api/leaderboard?period=all&limit=${n}`]) {
      const start = performance.now()
      expect((await api.get(path)).status).toBe(200)
      times.push(performance.now() - start)
    }
  }
  await api.stop()
  times.sort((a, b) => a - b)
  const [p50, p99] = [0.5, 0.99].map((part) => Math.round(times[Math.floor(part * times.length)] as number))
  process.stdout.write(`${flood} rows: p50 ${p50} ms, p99 ${p99} ms of ${times.length} answers, none 5xx\n`)
})
