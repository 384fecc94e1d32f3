import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { entriesOf } from '../../support/api/feed-xml.ts'
import { testDatabase } from '../../support/database.ts'
import {
  addressOf,
  birth,
  countSettlements,
  seedAgent,
  seedHolding,
  seedRegistration,
  seedSettlement,
} from '../../support/seed.ts'

// An agent whose row cannot be read is left out alone; all others are answered.

const database = testDatabase()
let api: TestApi
const lines: string[] = []

beforeAll(async () => {
  const { pool } = database
  for (let fid = 1; fid <= 20; fid++) {
    const address = addressOf(`agent ${fid}`)
    await seedAgent(pool, {
      fid,
      addresses: [address],
      chains: ['base'],
      claimMethod: 'jfs',
      listedAt: new Date(birth.getTime() + fid),
    })
    await seedRegistration(pool, { chain: 'base', id: fid, owner: address, uri: 'https://a.example/' })
    await seedHolding(pool, { fid, chain: 'base', id: fid, by: address })
    await pool.query(
      `insert into registration_document (chain, agent_id, uri_status, tried_uri_sha256, updated_at) values ('base', $1, 'ok', '', now())`,
      [fid],
    )
  }
  // Makes the query fail when agent 13's registration is read, and for no other.
  await pool.query(`
    create or replace function uri_sha256(r registration) returns bytea language plpgsql as $$
    begin
      if r.agent_id = 13 then perform 1 / (r.agent_id - 13); end if;
      return '';
    end $$`)
  await pool.query(`update agent set chains = '{atlantis}' where fid = 7`)
  // Makes the query fail when agent 5's row is read, and for no other.
  await pool.query(`update agent set chains = '{lemuria}' where fid = 5`)
  await pool.query(`
    create or replace function chain_label_of(name text) returns text language plpgsql as $$
    begin
      return 1 / case name when 'lemuria' then 0 else 1 end;
    end $$`)
  for (let fid = 1; fid <= 20; fid++) {
    for (let n = 0; n < fid; n++) {
      const block = 100 * fid + n
      await seedSettlement(pool, { chain: 'base', recipient: addressOf(`agent ${fid}`), block, at: new Date() })
    }
  }
  await countSettlements(pool)
  const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) })
  api = await startApi(database, { log })
})
afterAll(() => api.stop())

const others = (...left: number[]) => Array.from({ length: 20 }, (_, n) => n + 1).filter((fid) => !left.includes(fid))
const countedAt = async (place: string) => {
  const text = await (await api.get('/metrics')).text()
  return text.split('\n').find((line) => line.startsWith(`agent_directory_agents_left_out_total{place="${place}"}`))
}

test('the bulk document goes without an agent that cannot be built, and says so to the operator', async () => {
  expect((await api.get('/api/agent/13')).status).toBe(500)
  const response = await api.get('/data/agents.json')
  expect(response.status).toBe(200)
  const body = (await response.json()) as {
    count: number
    total: number
    truncated: boolean
    agents: { fid: number }[]
  }
  expect([body.count, body.total, body.truncated]).toEqual([18, 20, false])
  expect(body.agents.map(({ fid }) => fid)).toEqual(others(5, 13))
  expect(await countedAt('bulk')).toBe('agent_directory_agents_left_out_total{place="bulk"} 2')
  expect(lines.filter((line) => line.includes('"fid":13,"place":"bulk"')).length).toBe(1)
})

test('the feed goes without an agent that cannot be written', async () => {
  const response = await api.get('/feed.atom')
  expect(response.status).toBe(200)
  const { entries } = entriesOf(await response.text())
  expect(entries.length).toBe(18)
  expect(await countedAt('feed')).toBe('agent_directory_agents_left_out_total{place="feed"} 2')
})

test.for([
  ['a page of discovery', '/api/discovery?limit=100&sort=oldest', { total: 20, count: 19 }],
  ['a filtered page', '/api/discovery?limit=10&page=2&sort=newest&q=agent', { total: 20, count: 9 }],
  ['the leaderboard', '/api/leaderboard?limit=100', { count: 19 }],
] as const)('%s goes without a row that cannot be read', async ([, path, figures]) => {
  const response = await api.get(path)
  expect(response.status).toBe(200)
  const body = (await response.json()) as { agents: { fid: number; rank?: number }[] }
  expect(body).toMatchObject(figures)
  const shown = body.agents.map(({ fid }) => fid)
  const first = path.includes('page=2') ? 10 : 20
  expect([...shown].sort((one, other) => one - other)).toEqual(others(5).filter((fid) => fid <= first))
  // The agent left out keeps its rank: nobody moves up.
  for (const { fid, rank } of body.agents) expect(rank ?? 21 - fid).toBe(21 - fid)
  expect(await countedAt(path.includes('discovery') ? 'discovery' : 'leaderboard')).toMatch(/ [12]$/)
})

test('the changes go without it, and go on', async () => {
  const response = await api.get('/data/changes.ndjson')
  expect(response.status).toBe(200)
  const lines = (await response.text()).split('\n').slice(0, -1)
  const told = lines.map((line) => (JSON.parse(line) as { fid: number }).fid)
  expect(told.sort((one, other) => one - other)).toEqual(others(5))
  expect(await countedAt('changes')).toBe('agent_directory_agents_left_out_total{place="changes"} 1')
})

test('trouble with the database is no agent’s fault', async () => {
  const broken = { query: () => Promise.reject(Object.assign(new Error('gone'), { code: '57P01' })) } as never
  const other = await startApi(database, { database: broken })
  for (const path of ['/data/agents.json', '/api/discovery', '/api/leaderboard', '/data/changes.ndjson']) {
    expect([path, (await other.get(path)).status]).toEqual([path, 500])
  }
  await other.stop()
})
