import { afterAll, beforeAll, expect, test } from 'vitest'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import type { TestDatabase } from '../../support/database.ts'
import { type Ended, runMain } from '../../support/mains.ts'
import { seedAgent } from '../../support/seed.ts'
import { until } from '../../support/until.ts'
import { all, type LoadRun, startLoadRun } from '../backfill/load-run.ts'

const agents = [1, 2, 3, 4, 5]
const addressesPerAgent = 200
/** Clients that send requests without a pause. */
const clients = 3

let run: LoadRun
let database: TestDatabase
let api: TestApi
beforeAll(async () => {
  run = await startLoadRun()
  database = await run.database()
  expect((await run.load(database, all)).code).toBe(0)
  const processor = await run.processor(database)
  await processor.untilIndexed(1_599)
  await processor.stop()
  while ((await rollUpSettlements({ pool: database.pool })) > 0);
  const { rows } = await database.pool.query<{ address: string }>(
    `select distinct '0x' || encode(recipient, 'hex') as address from settlement order by 1 limit $1`,
    [agents.length * addressesPerAgent],
  )
  for (const [place, fid] of agents.entries()) {
    const addresses = rows.slice(place * addressesPerAgent, (place + 1) * addressesPerAgent)
    await seedAgent(database.pool, { fid, chains: ['base'], addresses: addresses.map(({ address }) => address) })
  }
  let now = Date.now()
  // The clock moves an hour at each reading, so that no answer comes from a cache.
  api = await startApi(database, { now: () => (now += 3_600_000) })
})
afterAll(async () => {
  await api?.stop()
  await run?.end()
})

const paths = agents.flatMap((fid) => [`/api/agent/${fid}`, `/api/agent/${fid}/settlements?limit=100`])
/** Paths whose answers contain the time they were made, so that their bodies are not compared. */
const timed = ['/api/stats', '/api/leaderboard']

async function ask(path: string): Promise<string> {
  const response = await api.get(path)
  const body = await response.text()
  if (response.status !== 200) throw new Error(`${path} answers ${response.status}: ${body}`)
  return body
}

async function answers(): Promise<Map<string, string>> {
  return new Map(await Promise.all(paths.map(async (path) => [path, await ask(path)] as const)))
}

/** Sends requests until `happens` has ended; returns its result, and the distinct bodies by path. */
async function askMeanwhile<T>(happens: () => Promise<T>): Promise<{ seen: Map<string, Set<string>>; result: T }> {
  const seen = new Map(paths.map((path) => [path, new Set<string>()]))
  let isOver = false
  const asking = Array.from({ length: clients }, async () => {
    while (!isOver) {
      for (const path of paths) seen.get(path)?.add(await ask(path))
      for (const path of timed) await ask(path)
    }
  })
  try {
    return { seen, result: await happens() }
  } finally {
    isOver = true
    await Promise.all(asking)
  }
}

const reset = (...args: string[]): Promise<Ended> =>
  runMain('processors/reset/main.ts', ['--chain', 'base', ...args], { env: run.environment(database) })

test('while a chain is taken back, every answer is that of before or that of after', async () => {
  const before = await answers()
  const { seen, result } = await askMeanwhile(() => reset('--to', '1300'))
  expect(result).toMatchObject({ code: 0, stderr: '' })
  const after = await answers()
  for (const path of paths) {
    expect(after.get(path)).not.toBe(before.get(path))
    expect([...(seen.get(path) ?? [])].filter((body) => ![before.get(path), after.get(path)].includes(body))).toEqual(
      [],
    )
  }
})

test('while a chain is emptied, nobody waits for long, not even behind a long reader', async () => {
  const before = await answers()
  const reader = await database.pool.connect()
  const waits = async () => {
    const { rows } = await database.pool.query(
      `select from pg_stat_activity where application_name = 'reset base' and wait_event_type = 'Lock'`,
    )
    return rows.length > 0
  }
  const { seen, result } = await askMeanwhile(async () => {
    try {
      await reader.query('begin')
      await reader.query('select from settlement limit 1')
      const ending = reset('--all')
      await until('the reset waits for the reader', waits)
      await until('it lets the others pass', async () => !(await waits()))
      await reader.query('commit')
      return await ending
    } finally {
      reader.release(true)
    }
  })
  expect(result).toMatchObject({ code: 0, stderr: '' })
  const after = await answers()
  for (const path of paths) {
    expect([...(seen.get(path) ?? [])].filter((body) => ![before.get(path), after.get(path)].includes(body))).toEqual(
      [],
    )
  }
  expect(JSON.parse(after.get('/api/agent/1/settlements?limit=100') as string).count).toBe(0)
})
