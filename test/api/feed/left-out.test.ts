import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { entriesOf } from '../../support/api/feed-xml.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { addressOf, birth, seedAgent, seedHolding, seedRegistration } from '../../support/seed.ts'

// One agent that cannot be shown leaves out itself.

let database: TestDatabase
let api: TestApi
const lines: string[] = []

beforeAll(async () => {
  database = await createTestDatabase()
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
  // What only this agent's token meets when it is read.
  await pool.query(`
    create or replace function uri_sha256(r registration) returns bytea language plpgsql as $$
    begin
      if r.agent_id = 13 then perform 1 / (r.agent_id - 13); end if;
      return '';
    end $$`)
  await pool.query(`update agent set chains = '{atlantis}' where fid = 7`)
  const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) })
  api = await startApi(database, { log })
})
afterAll(async () => {
  await api.stop()
  await database.drop()
})

const others = (left: number) => Array.from({ length: 20 }, (_, n) => n + 1).filter((fid) => fid !== left)
const countedAt = async (place: string) => {
  const text = await (await api.get('/metrics')).text()
  return text.split('\n').find((line) => line.startsWith(`agents_left_out_total{place="${place}"}`))
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
  expect([body.count, body.total, body.truncated]).toEqual([19, 20, false])
  expect(body.agents.map(({ fid }) => fid)).toEqual(others(13))
  expect(await countedAt('bulk')).toBe('agents_left_out_total{place="bulk"} 1')
  expect(lines.filter((line) => line.includes('"fid":13,"place":"bulk"')).length).toBe(1)
})

test('the feed goes without an agent that cannot be written', async () => {
  const response = await api.get('/feed.atom')
  expect(response.status).toBe(200)
  const { entries } = entriesOf(await response.text())
  expect(entries.length).toBe(19)
  expect(await countedAt('feed')).toBe('agents_left_out_total{place="feed"} 1')
})

test('trouble with the database is no agent’s fault', async () => {
  const broken = { query: () => Promise.reject(Object.assign(new Error('gone'), { code: '57P01' })) } as never
  const other = await startApi(database, { database: broken })
  expect((await other.get('/data/agents.json')).status).toBe(500)
  await other.stop()
})
