import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import type { ChainSettings } from '../../config/chains.file.ts'
import { chainNames } from '../../config/chains.ts'
import { createFreshDatabase } from '../../devnet/database.ts'
import { createReport } from '../../devnet/report.ts'
import { unreached, withoutHistory } from '../../stack/shortfalls.ts'
import { summarize } from '../../stack/summary.ts'
import { planTasks, readSettings, withoutSources } from '../../stack/tasks.ts'
import { createTestDatabase } from '../support/database.ts'
import { insert } from '../support/seed.ts'

test('a fresh database is made next to the one DATABASE_URL names, which stays as it is', async () => {
  const named = await createTestDatabase()
  const [, name] = /\/([^/]+)$/.exec(named.url) as unknown as [string, string]
  try {
    await named.pool.query('create table kept (n int)')
    const first = await createFreshDatabase('unused', named.url)
    expect(new URL(first.url).pathname).toBe(`/${name}_devnet`)
    const client = new pg.Client({ connectionString: first.url })
    await client.connect()
    client.on('error', () => {}) // the second one throws it out
    await client.query(`insert into agent_change (fid, kind, changed_at) values (1, 'upsert', now())`)
    const second = await createFreshDatabase('unused', named.url)
    const again = new pg.Client({ connectionString: second.url })
    await again.connect()
    expect((await again.query('select from agent_change')).rowCount).toBe(0)
    await again.end()
    await client.end().catch(() => {})
    expect((await named.pool.query('select from kept')).rowCount).toBe(0)
    await named.pool.query(`drop database "${name}_devnet" with (force)`)
  } finally {
    await named.drop()
  }
})

describe('the processes of a stack', () => {
  test('are the processors, the job that joins and the API, each with metrics of its own', async () => {
    const { processors, enrichment, api } = await planTasks(['base', 'celo'], { DATABASE_URL: 'postgres://x/y' })
    const all = [...processors, ...enrichment, ...api]
    expect(all.map(({ command }) => command.join(' '))).toEqual([
      'processors/main.ts base',
      'processors/main.ts celo',
      'enrichment/main.ts',
      'api/main.ts',
    ])
    const ports = [...processors, ...enrichment].map(({ env }) => env.METRICS_PORT)
    expect(new Set(ports).size).toBe(3)
    for (const { command } of all) expect(existsSync(new URL(`../../${command[0]}`, import.meta.url))).toBe(true)
  })

  test('of a local world are told nothing of public sources or of anybody’s data', () => {
    const told = withoutSources({
      PATH: '/bin',
      LOG_LEVEL: 'debug',
      LIMIT_PER_MINUTE: '9',
      SETTLEMENT_SCOPE: 'verified',
      SETTLEMENT_OVERLOADS: 'all',
      RPC_BASE: 'https://node.example/key',
      PORTAL_API_KEY: 'k',
      DATABASE_URL: 'postgres://a/b',
      NEYNAR_API_KEY: 'n',
      GITHUB_TOKEN: 'g',
      PORT: '1',
    })
    expect(told).toEqual({ PATH: '/bin', LOG_LEVEL: 'debug', LIMIT_PER_MINUTE: '9', SETTLEMENT_SCOPE: 'verified' })
  })

  test('are not started with settings that one of them would refuse', () => {
    expect(() => readSettings({ LIMIT_PER_DAY: 'many' }, undefined)).toThrow(/LIMIT_PER_DAY/)
    expect(() => readSettings({ HUB_POLL_SECONDS: 'often' }, undefined)).toThrow(/HUB_POLL_SECONDS/)
    expect(() => readSettings({}, { base: { finality: -1 } })).toThrow(/base\.finality/)
  })
})

test('on public networks the summary names each source, says what is off and why, and shows no key', () => {
  const env = {
    RPC_BASE: 'https://node.example/v2/secret-key',
    NEYNAR_API_KEY: 'secret-key',
    REDIS_URL: 'redis://:secret-key@cache.example:6379',
    GATEWAY_CELO: 'http://archive.example:8080',
  }
  const file = { gnosis: { enabled: false }, polygon: { portal: null, rpc: 'http://p.example' } }
  const lines = summarize(readSettings(env, file), env)
  const text = lines.join('\n')
  expect(text).not.toContain('secret-key')
  expect(text).toMatch(/^base +history from the Portal portal\.sqd\.dev \(base-mainnet\); tip from node\.example$/m)
  expect(text).toMatch(
    /^celo +history from the archive archive\.example:8080; final blocks alone: RPC_CELO is not set$/m,
  )
  expect(text).toMatch(/^polygon +history and tip from p\.example$/m)
  expect(text).toMatch(/^gnosis +off in CHAINS_FILE$/m)
  expect(text).toMatch(/^look-up +Neynar api\.neynar\.com$/m)
  expect(text).toMatch(/^limits +Redis cache\.example:6379$/m)
  const bare = summarize(readSettings({}, undefined), {}).join('\n')
  for (const variable of ['RPC_ETHEREUM', 'HUB_URL', 'NEYNAR_API_KEY', 'REDIS_URL']) {
    expect(bare).toContain(`${variable} is not set`)
  }
})

test('hosts that cannot be reached are named with what would come from them, and chains whose history is not loaded', async () => {
  const listening = createServer().listen(0, '127.0.0.1')
  await once(listening, 'listening')
  const { port } = listening.address() as AddressInfo
  const nobody = 'http://127.0.0.1:1'
  const env = {
    HUB_URL: `http://127.0.0.1:${port}`,
    ...Object.fromEntries(
      ['PORTAL_URL', 'BLOCKSCOUT_URL', 'OLI_URL', 'WEB3BIO_URL', 'GITHUB_URL'].map((name) => [name, nobody]),
    ),
    RPC_BASE: nobody,
  }
  const off = Object.fromEntries(
    chainNames.filter((name) => !['base', 'gnosis'].includes(name)).map((name) => [name, { enabled: false }]),
  )
  const settings = readSettings(env, off)
  expect(await unreached(settings)).toEqual([
    '127.0.0.1:1 (ECONNREFUSED): history of base, tip of base, history of gnosis, labels and profiles',
  ])
  listening.close()
  const database = await createTestDatabase()
  try {
    const { pool } = database
    expect(await withoutHistory(pool, settings.chains)).toEqual(['base'])
    const { base } = Object.fromEntries(settings.chains.map((chain) => [chain.name, chain]))
    const { fromBlock } = (base as ChainSettings).registry
    await insert(pool, 'backfill', {
      chain: 'base',
      from_block: 0,
      to_block: fromBlock - 1,
      completed_at: new Date(),
    })
    expect(await withoutHistory(pool, settings.chains)).toEqual([])
  } finally {
    await database.drop()
  }
})

test('progress is shown every two seconds with the time that is left, and a step with the time it took', () => {
  let now = 0
  const lines: string[] = []
  const report = createReport(
    (line) => lines.push(line),
    () => now,
  )
  report.progress('history', 0.05)
  now = 3_000
  report.progress('history', 0.25, 'of much')
  now = 3_500
  report.progress('history', 0.3)
  now = 12_000
  report.stage('history', 'all of it')
  expect(lines).toEqual(['  history   25 %, about 9 s left, of much', '  history   all of it (12.0 s)'])
})
