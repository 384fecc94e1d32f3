import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Hub, startHub } from '../../../devnet/hub/server.ts'
import { HubState } from '../../../devnet/hub/state.ts'
import { testDatabase } from '../../support/database.ts'
import { type EnrichmentProcess, spawnEnrichment } from '../../support/enrichment-process.ts'
import { until } from '../../support/until.ts'
import { expectExactTables } from './world.ts'

const chains = ['base', 'celo', 'polygon']
const kills = 10
const rowsPerRound = 20_000 // of all chains
const blocksPerRound = 1_000
const lookMs = 1
const seenSeconds = 60
/** Timeout in milliseconds: eleven processes start one after the other. */
const timeout = 400_000

const database = testDatabase()
let hub: Hub
let job: EnrichmentProcess | undefined
beforeAll(async () => {
  hub = await startHub(new HubState(), { apiKey: 'key' })
})
afterAll(async () => {
  await job?.kill('SIGKILL')
  await hub?.stop()
})

const start = () => spawnEnrichment({ DATABASE_URL: database.url, HUB_URL: hub.url, HUB_POLL_SECONDS: '3600' })

/** Adds blocks to all chains, all final but the last five, and a completed backfill of 100 of them on Celo. */
async function grow(round: number) {
  const first = round * blocksPerRound
  await database.pool.query(
    `insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token,
                             payer, recipient, facilitator, payment_nonce, tx_hash)
     select n, timestamptz '2026-03-01' + block * interval '1 minute', block, n % $3, ($4::text[])[1 + n % 3], 'c',
            case when n % 5 = 0 then '\\xcf092995'::bytea else '\\xe3ee160e'::bytea end, '\\x01', int4send(n % 700),
            int4send(n % 400), '\\x02', int4send(n), int4send(block)
       from generate_series(1, $3::int) n
      cross join lateral (select $1::int + n * $2::int / $3::int as block) at`,
    [first, blocksPerRound - 1, rowsPerRound, chains],
  )
  await database.pool.query(
    `insert into backfill (chain, from_block, to_block, completed_at) values ('celo', $1, $1 + 99, now())`,
    [first + 300],
  )
  await database.pool.query(
    `insert into chain_state (chain, chain_id, indexed_block, finalized_block, head_block, updated_at)
     select chain, 1, $2, $2 - 5, $2, now() from unnest($1::text[]) chain
         on conflict (chain) do update set finalized_block = excluded.finalized_block`,
    [chains, first + blocksPerRound],
  )
}

/** Count of chains and backfills with final blocks that are not rolled up yet. */
async function waiting(): Promise<number> {
  const { rows } = await database.pool.query(`
    select count(*)::int as waiting
      from settlement_unrolled u
      join chain_state s using (chain)
     where u.from_block <= s.finalized_block`)
  return rows[0].waiting
}

async function isAdding(): Promise<boolean> {
  const { rows } = await database.pool.query(`
    select from pg_stat_activity
     where application_name = 'enrichment' and datname = current_database() and state = 'active'
       and query like '%with fact as materialized%'`)
  return rows.length > 0
}

/** Polls every millisecond: `until` is slower and could miss a short state. */
async function untilSeen(what: string, holds: () => Promise<boolean>) {
  for (const deadline = Date.now() + seenSeconds * 1_000; Date.now() < deadline; await delay(lookMs)) {
    if (await holds()) return
  }
  throw new Error(`${what}: not within ${seenSeconds} s`)
}

test(`a job killed ${kills} times while it rolls up adds every settlement once`, { timeout }, async () => {
  let between = 0
  let within = 0
  for (let round = 0; round < kills; round++) {
    await grow(round)
    const before = await waiting()
    job = start()
    // Killed in turn while it adds, and between steps, when some chains are done and others wait.
    if (round % 2 === 0) await untilSeen('the job was adding', isAdding)
    else await untilSeen('a step was done', async () => (await waiting()) < before)
    await job.kill('SIGKILL')
    const left = await waiting()
    if (left === before) within++
    else if (left > 0) between++
    await expectExactTables(database)
  }
  expect({ within, between }).toEqual({
    within: expect.toSatisfy((n) => n > 0),
    between: expect.toSatisfy((n) => n > 0),
  })

  job = start()
  await until('everything final was rolled up', async () => (await waiting()) === 0)
  await job.kill('SIGKILL')
  await expectExactTables(database)
  const { rows } = await database.pool.query(`
    select (select sum(n)::int from settlement_hourly) as hours, (select sum(n)::int from settlement_total) as totals,
           (select sum(n)::int from settlement_payer) as payers,
           (select count(*)::int from settlement join chain_state using (chain) where block_number <= finalized_block) as facts`)
  const { facts } = rows[0]
  expect(facts).toBeGreaterThan(kills * rowsPerRound * 0.99)
  expect(rows).toEqual([{ hours: facts, totals: facts, payers: facts, facts }])
})
