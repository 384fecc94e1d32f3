import { expect, onTestFinished, test } from 'vitest'
import { startHub } from '../../../devnet/hub/server.ts'
import { HubState } from '../../../devnet/hub/state.ts'
import { startExplorer } from '../../../devnet/upstreams/explorer.ts'
import { type Config, readConfig } from '../../../enrichment/config.ts'
import { runPass } from '../../../enrichment/schedule/scheduler.ts'
import { socialFollows } from '../../../enrichment/socialindex/follows.ts'
import { createUpstreamSources } from '../../../enrichment/upstream-sources.ts'
import { createHub } from '../../../social/hub.ts'
import { testDatabase } from '../../support/database.ts'
import { createClock } from '../../support/enrichment-job.ts'
import { addressOf } from '../../support/seed.ts'
import { mintTo, startUpstreamJob } from './job.ts'

const database = testDatabase()

const clock = createClock('2026-06-01T00:00:00Z')

function create(config: Config) {
  const { sources, description } = createUpstreamSources(config, database.pool, clock.now)
  onTestFinished(() => {
    for (const { host } of sources) host.stop()
  })
  return { sources, description, names: sources.map(({ name }) => name) }
}

test('a source whose public host wants a key is off without one, and says so', () => {
  const { names, description } = create(readConfig({}))
  expect(names).toEqual(['identity', 'codehost'])
  expect(description).toContain('blockscout off: BLOCKSCOUT_API_KEY is not set')
  expect(description).toContain('oli off: OLI_API_KEY is not set')
  expect(description).toContain('github on (api.github.com, without a key)')
})

test('with a key, or at a host of the operator’s own, it is on; keys are not printed', () => {
  const withKeys = create(
    readConfig({ BLOCKSCOUT_API_KEY: 'secret-1', OLI_API_KEY: 'secret-2', GITHUB_TOKEN: 'secret-3' }),
  )
  expect(withKeys.names).toEqual(['explorer', 'explorer_oli', 'identity', 'codehost'])
  expect(withKeys.description).not.toContain('secret')
  const named = create(readConfig({ BLOCKSCOUT_URL: 'http://127.0.0.1:9', OLI_URL: 'http://127.0.0.1:9/' }))
  expect(named.names).toEqual(['explorer', 'explorer_oli', 'identity', 'codehost'])
})

test('public hosts have a pace and a budget of the day, which a token for GitHub raises', () => {
  const { github, web3bio } = readConfig({})
  expect(github.requestsPerSecond * 3_600).toBeLessThan(60)
  expect(readConfig({ GITHUB_TOKEN: 'x' }).github.requestsPerSecond * 3_600).toBeLessThan(5_000)
  expect(web3bio.perDay).toBeGreaterThan(0)
})

test('a key goes into a header, and never into an address', async () => {
  const { pool } = database
  const double = await startExplorer()
  onTestFinished(double.stop)
  const env = {
    BLOCKSCOUT_URL: double.url,
    BLOCKSCOUT_API_KEY: 'secret-1',
    OLI_URL: double.url,
    OLI_API_KEY: 'secret-2',
  }
  const { sources } = create(readConfig({ ...env, SITE_URL: 'https://agents.shop.xyz' }))
  const seeding = startUpstreamJob({ database, clock, url: double.url, create: () => sources[0]! })
  await mintTo(pool, { fid: 1, addresses: [addressOf('one')] })
  await seeding.join()
  await pool.query(`insert into source_state (source, subject, due_at) values ('explorer_oli', 'fid:1', $1)`, [
    clock.now(),
  ])
  const pass = { pool, now: clock.now, random: () => 0.5, failed: () => {} }
  for (const source of sources.slice(0, 2)) expect((await runPass(source, pass)).outcomes).toEqual(['empty'])
  const first = double.requests[0]!
  const last = double.requests.at(-1)!
  expect([first.headers.authorization, last.headers['x-api-key']]).toEqual(['secret-1', 'secret-2'])
  expect(first.headers['user-agent']).toContain('https://agents.shop.xyz')
  expect(double.requests.map(({ url }) => url.href).join(' ')).not.toContain('secret')
})

test('whom an agent follows is read from the network, the newest first, and written when it changes', async () => {
  const { pool } = database
  const state = new HubState(clock.now)
  const hub = await startHub(state)
  onTestFinished(hub.stop)
  for (const fid of [1, 2, 3, 4]) state.addAccount({ fid, custody: addressOf(`custody ${fid}`) })
  state.follow(1, 2, new Date('2026-01-02T00:00:00Z'))
  state.follow(1, 3, new Date('2026-01-03T00:00:00Z'))
  state.follow(4, 1, new Date('2026-01-03T00:00:00Z'))
  const social = createHub({ url: hub.url })
  onTestFinished(() => social.close())
  const job = startUpstreamJob({
    database,
    clock,
    url: hub.url,
    create: ({ upstream }) => socialFollows({ social, host: upstream.host }),
  })
  const read = async () => {
    await pool.query(
      `insert into source_state (source, subject, due_at) values ('social_follows', 'fid:1', $1)
           on conflict (source, subject) do update set due_at = excluded.due_at`,
      [clock.now()],
    )
    const outcomes = await job.read()
    const { rows } = await pool.query('select xmin::text, targets::int[] from social_follow where fid = 1')
    return { outcomes, ...rows[0] }
  }
  const first = await read()
  expect(first).toMatchObject({ outcomes: ['ok'], targets: [3, 2] })
  expect(await read()).toEqual(first)
  hub.faults.add({ kind: 'status', status: 500 })
  expect(await read()).toMatchObject({ outcomes: ['unavailable'], targets: [3, 2] })
  state.follow(1, 4, new Date('2026-01-04T00:00:00Z'))
  expect(await read()).toMatchObject({ outcomes: ['ok'], targets: [4, 3, 2] })
})
