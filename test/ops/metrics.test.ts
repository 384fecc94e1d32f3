import { once } from 'node:events'
import express from 'express'
import { Registry } from 'prom-client'
import { expect, onTestFinished, test } from 'vitest'
import { boundedDatabase } from '../../api/http/database.ts'
import { createMetrics as metricsOfApi } from '../../api/http/metrics.ts'
import { readChains } from '../../config/chains.file.ts'
import { createPool } from '../../db/pool.ts'
import { backfillLoads, insertBackfill, replaceShards } from '../../db/queries/chain/backfill.ts'
import { noteBackup } from '../../db/queries/server/backup.ts'
import { createMetrics as metricsOfEnrichment } from '../../enrichment/metrics.ts'
import { createWatchdog } from '../../enrichment/schedule/watchdog.ts'
import { createHost } from '../../hosts/host.ts'
import { portOf } from '../../ops/health.ts'
import { createHealth } from '../../processors/health.ts'
import { Progress } from '../../processors/progress.ts'
import { testDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const database = testDatabase()

/** Value of a series in the text of /metrics; undefined: it is not there. */
function read(text: string, series: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length))
}

test('requests count as in flight until their answer ends or its client leaves', async () => {
  const { pool } = database
  const { timeRequests, registry } = metricsOfApi({ cache: { bytes: 0, size: 0 }, database: pool, pool })
  const inFlight = async () => read(await registry.metrics(), 'agent_directory_http_requests_in_flight')
  const answers: (() => void)[] = []
  const app = express()
    .use(timeRequests)
    .get('/', (_req, res) => void answers.push(() => res.end()))
  const server = app.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const leaving = new AbortController()
  const url = `http://127.0.0.1:${portOf(server)}/`
  const asked = [fetch(url), fetch(url, { signal: leaving.signal }).catch(() => {})]
  await until('both are asked', () => answers.length === 2)
  expect(await inFlight()).toBe(2)
  leaving.abort()
  await until('one has left', async () => (await inFlight()) === 1)
  for (const answer of answers) answer()
  await Promise.all(asked)
  await until('none is left', async () => (await inFlight()) === 0)
})

test('the API tells how old the chains are that it expects to be indexed, not those that were given up', async () => {
  const { pool } = database
  for (const [id, chain] of ['base', 'celo', 'linea'].entries()) {
    await pool.query(
      `insert into chain_state (chain, chain_id, indexed_block, indexed_at, finalized_block, head_block, updated_at)
       values ($1, $2, 7, now() - interval '1 hour', 7, 7, now())`,
      [chain, id + 1],
    )
  }
  const chains = readChains({ env: {}, file: { celo: { enabled: false } } }) // linea is not in the table of chains
  const { registry } = metricsOfApi({ cache: { bytes: 0, size: 0 }, database: pool, pool, chains })
  const lines = (await registry.metrics())
    .split('\n')
    .filter((line) => line.startsWith('agent_directory_indexer_lag_seconds{'))
  expect(lines).toEqual([expect.stringMatching(/^agent_directory_indexer_lag_seconds\{chain="base"\} 36\d\d$/)])
})

test('the API tells no age of a standby while reads go to the primary', async () => {
  const { pool } = database
  const standby = {
    counts: { answered: 3, behind: 0, away: 1, foreign: 0, cancelled: 0 },
    ageMs: 400 as number | undefined,
  }
  const { registry } = metricsOfApi({ cache: { bytes: 0, size: 0 }, database: pool, pool, standby })
  const age = async () => read(await registry.metrics(), 'agent_directory_standby_age_seconds')
  expect(await age()).toBe(0.4)
  standby.ageMs = undefined
  expect(await age()).toBeUndefined()
  expect(read(await registry.metrics(), 'agent_directory_standby_reads_total{outcome="answered"}')).toBe(3)
})

test('statements that are given up for their length are counted, and no other failures', async () => {
  const pool = createPool({ databaseUrl: database.url, name: 'test', max: 1, statementTimeoutMs: 100 })
  onTestFinished(() => pool.end())
  const bounded = boundedDatabase(pool)
  const { registry } = metricsOfApi({
    cache: { bytes: 0, size: 0 },
    database: bounded,
    pool: bounded,
    statements: bounded,
  })
  const timeouts = async () => read(await registry.metrics(), 'agent_directory_database_statement_timeouts_total')
  await expect(bounded.query({ text: 'select 1 / 0' })).rejects.toThrow('division by zero')
  expect(await timeouts()).toBe(0)
  await expect(bounded.query({ text: 'select pg_sleep(600)' })).rejects.toThrow(/timeout/)
  expect(await timeouts()).toBe(1)
})

test('the enrichment tells requests and budgets of its hosts, how long passes took, and the newest backup', async () => {
  const host = createHost({ name: 'hub', requestsPerSecond: 500 })
  const unlimited = createHost({ name: 'agents', requestsPerSecond: Number.POSITIVE_INFINITY })
  let doubt: string | undefined
  const metrics = metricsOfEnrichment({
    pool: database.pool,
    hosts: [{ ...host }, unlimited],
    hubDoubt: async () => doubt,
    hubFollowed: () => 'hub.example',
    now: () => new Date(),
    silence: () => watchdog.silence(),
  })
  let nowMs = 0
  const watchdog = createWatchdog({ nowMs: () => nowMs, passed: (loop, seconds) => metrics.passed(loop, seconds) })
  await Promise.all([host.slot(), host.slot('spare'), unlimited.slot()])
  await watchdog.watch('agents', async () => {
    nowMs += 2_000
  })
  await watchdog.watch('payers', async () => {})
  await watchdog.watch('agents', () => Promise.reject(new Error('it fails'))).catch(() => {})
  nowMs += 7_000
  const text = await metrics.text()
  const told = (series: string) => read(text, series)
  expect(told('agent_directory_enrichment_host_requests_total{host="hub"}')).toBe(2)
  expect(told('agent_directory_enrichment_host_requests_total{host="agents"}')).toBe(1)
  expect(told('agent_directory_enrichment_host_budget_per_second{host="hub"}')).toBe(500)
  expect(told('agent_directory_enrichment_host_budget_per_second{host="agents"}')).toBeUndefined()
  expect(told('agent_directory_enrichment_pass_seconds_sum{loop="agents"}')).toBe(2)
  expect(told('agent_directory_enrichment_pass_seconds_count{loop="agents"}')).toBe(1)
  expect(told('agent_directory_enrichment_loop_silent_seconds{loop="agents"}')).toBe(7)
  expect(told('agent_directory_enrichment_loop_silent_seconds{loop="payers"}')).toBe(0)
  expect(told('agent_directory_enrichment_hub_doubted')).toBe(0)
  expect(told('agent_directory_backup_taken_timestamp_seconds')).toBeUndefined()
  doubt = 'it says that it is syncing'
  for (const at of [5_000, 86_400_000]) await noteBackup(database.pool, new Date(at))
  const later = await metrics.text()
  expect(read(later, 'agent_directory_enrichment_hub_doubted')).toBe(1)
  expect(read(later, 'agent_directory_backup_taken_timestamp_seconds')).toBe(86_400)
})

test('a processor tells what the backfills of its chain have to do and have done', async () => {
  const { pool } = database
  const registry = new Registry()
  let isAway = false
  const loads = async () => {
    if (isAway) throw new Error('the database is away')
    return backfillLoads(pool, 'base')
  }
  const { base } = readChains({ env: {} })
  createHealth(base, new Progress(), registry, { loads })
  const told = async (name: string) => read(await registry.metrics(), `${name}{chain="base"}`)
  expect([await told('agent_directory_backfill_blocks_to_go'), await told('agent_directory_backfill_rows')]).toEqual([
    0, 0,
  ])
  const id = await insertBackfill(pool, 'base', 100, 299)
  await replaceShards(pool, id, [
    { firstBlock: 100, lastBlock: 199 },
    { firstBlock: 200, lastBlock: 299 },
  ])
  await insertBackfill(pool, 'celo', 0, 9)
  await pool.query('update backfill_shard set next_block = 150, settlements = 7 where first_block = 100')
  expect([await told('agent_directory_backfill_blocks_to_go'), await told('agent_directory_backfill_rows')]).toEqual([
    150, 7,
  ])
  isAway = true
  expect([await told('agent_directory_backfill_blocks_to_go'), await told('agent_directory_backfill_rows')]).toEqual([
    undefined,
    undefined,
  ])
})

test('a processor tells when it last got on, and may be late where no node tells the tip', async () => {
  const { base } = readChains({ env: {} })
  const told = async (rpc: string | null) => {
    const registry = new Registry()
    const progress = Object.assign(new Progress(), { committedAt: 1_500, headSeenAt: 2_500, finalBlock: 7 })
    createHealth({ ...base, rpc }, progress, registry)
    const text = await registry.metrics()
    return ['last_commit_timestamp_seconds', 'head_seen_timestamp_seconds', 'final_block', 'lag_objective_seconds'].map(
      (name) => read(text, `agent_directory_processor_${name}{chain="base"}`),
    )
  }
  expect(await told('http://127.0.0.1:1')).toEqual([1.5, 2.5, 7, 120])
  expect(await told(null)).toEqual([1.5, 2.5, 7, 1_200])
})
