import { beforeAll, expect, test } from 'vitest'
import { boundedDatabase } from '../../../api/http/database.ts'
import { bulkDocument } from '../../../api/schemas/agents/profile.ts'
import { firstProduced } from '../../../db/queries/exports/produced.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { createTestDatabase, testDatabase } from '../../support/database.ts'
import { addressOf, seedAgent, seedHolding, seedRegistration } from '../../support/seed.ts'

const database = testDatabase()
beforeAll(async () => {
  const { pool } = database
  await seedAgent(pool, {
    fid: 7,
    claimMethod: 'jfs',
    addresses: [addressOf('seven')],
    chains: ['base'],
    settlementsAll: 4,
  })
  await seedRegistration(pool, { chain: 'base', id: 1, owner: addressOf('seven') })
  await seedHolding(pool, { fid: 7, chain: 'base', id: 1, by: addressOf('seven') })
  await seedAgent(pool, { fid: 3, claimMethod: 'eip191', status: 'claimed-only' })
  await seedAgent(pool, { fid: 5 })
})

test('every claimed agent is in one document, by fid: its profile without tags, edges and identities', async () => {
  const api = await startApi(database)
  const response = await api.get('/data/agents.json')
  expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'public, max-age=300'])
  const body = bulkDocument.parse(await response.json())
  expect(body).toMatchObject({ count: 2, total: 2, truncated: false, schema_version: 1 })
  expect(body.agents.map((agent) => agent.fid)).toEqual([3, 7])
  const { oli_tags, agent_edges, agent_identities, ...profile } = (await (
    await api.get('/api/agent/7')
  ).json()) as Record<string, unknown>
  expect(body.agents[1]).toEqual({ ...profile, settlements_all: 4 }) // the row's counter; a profile counts settlements
  expect(Object.keys(body.agents[1] ?? {})).toEqual(Object.keys(profile))
  await api.stop()
})

test('unchanged content keeps its time, its bytes and its tag; a change gives new ones', async () => {
  const api = await startApi(database, { now: () => clock.now })
  const clock = { now: Date.now() }
  const first = await api.get('/data/agents.json')
  const text = await first.text()
  clock.now += 301_000 // stale: built again
  const again = await api.get('/data/agents.json')
  expect([again.headers.get('etag'), await again.text()]).toEqual([first.headers.get('etag'), text])
  await database.pool.query(`update agent set bio = 'new' where fid = 3`)
  clock.now += 301_000
  const changed = await api.get('/data/agents.json')
  const body = bulkDocument.parse(await changed.json())
  expect(changed.headers.get('etag')).not.toBe(first.headers.get('etag'))
  expect(body.generated_at > bulkDocument.parse(JSON.parse(text)).generated_at).toBe(true)
  await api.stop()
})

test('unchanged content has its time and tag on every replica, and after a restart', async () => {
  const clock = { now: Date.now() }
  const ask = async () => {
    clock.now += 3_600_000
    const api = await startApi(database, { now: () => clock.now })
    const answer = await api.get('/data/agents.json')
    const { generated_at } = bulkDocument.parse(await answer.json())
    await api.stop()
    return { generated_at, etag: answer.headers.get('etag') }
  }
  const first = await ask()
  expect(await ask()).toEqual(first)
  await database.pool.query(`update agent set bio = 'another one' where claimed`)
  const changed = await ask()
  expect(changed.etag).not.toBe(first.etag)
  expect(changed.generated_at > first.generated_at).toBe(true)
})

test('two processes that produce different content for a while do not take turns with its time', async () => {
  const { pool } = database
  const told = (content: string, second: number) =>
    firstProduced(pool, { name: 'a document', sha256: Buffer.from(content), now: new Date(second * 1_000) })
  expect(await told('before', 1)).toEqual(new Date(1_000))
  expect(await told('after', 2)).toEqual(new Date(2_000))
  expect(await told('before', 3)).toEqual(new Date(1_000)) // of a process that reads a standby
  expect(await told('after', 4)).toEqual(new Date(2_000))
  for (let n = 5; n < 300; n++) await told(`content ${n}`, n)
  const { rows } = await pool.query(`select count(*)::int as kept from produced_content where name = 'a document'`)
  expect(rows[0].kept).toBeLessThan(110)
})

test('two processes asked in turn tell one time of one content, before and after a change that one sees late', async () => {
  const main = await createTestDatabase()
  const standby = await createTestDatabase()
  for (const { pool } of [main, standby]) await seedAgent(pool, { fid: 3, claimMethod: 'eip191' })
  const clock = { now: Date.now() }
  const now = () => clock.now
  const first = await startApi(main, { now })
  const second = await startApi(main, { now, database: boundedDatabase(standby.pool), primary: main.pool })
  const told = async (api: TestApi) => {
    clock.now += 301_000 // stale: built again
    const answer = await api.get('/data/agents.json')
    return { ...bulkDocument.parse(await answer.json()), etag: answer.headers.get('etag') }
  }
  const inTurn = async () => [await told(first), await told(second), await told(first), await told(second)]
  const before = await told(first)
  expect(await inTurn()).toEqual([before, before, before, before])
  const change = "update agent set bio = 'changed' where fid = 3"
  await main.pool.query(change)
  const after = await told(first)
  expect(after.generated_at > before.generated_at).toBe(true)
  expect(await inTurn()).toEqual([after, before, after, before])
  await standby.pool.query(change)
  expect(await inTurn()).toEqual([after, after, after, after])
  await Promise.all([first.stop(), second.stop()])
  await Promise.all([main.drop(), standby.drop()])
})

test('readers at once share one build, and what they get says how old it is', async () => {
  let builds = 0
  const counting = {
    query: (config: { name?: string }) => {
      if (config.name === 'claimed-agents') builds++
      return database.pool.query(config as never)
    },
  }
  const api = await startApi(database, { database: counting as never })
  const answers = await Promise.all(Array.from({ length: 20 }, () => api.get('/data/agents.json')))
  expect(new Set(answers.map((answer) => answer.headers.get('etag'))).size).toBe(1)
  const later = await api.get('/data/agents.json')
  expect(Number(later.headers.get('age'))).toBeGreaterThanOrEqual(0)
  expect(builds).toBe(1)
  await api.stop()
})

test('of more than 5,000 claimed agents the 5,000 claimed first are listed', async () => {
  const many = await createTestDatabase()
  await many.pool.query(`
    insert into agent (fid, chains, verified_addresses, claimed, claim_method, claimed_at, agent_status,
                       registered_at, listed_at, search, changed_at)
    select fid, '{}', '{}', true, 'eip191', timestamptz '2026-03-01' + (6000 - fid) * interval '1 second',
           'claimed-only', '2026-03-01', '2026-03-01', '', '2026-03-01'
      from generate_series(1, 5003) fid`)
  const api = await startApi(many)
  const body = bulkDocument.parse(await (await api.get('/data/agents.json')).json())
  expect(body).toMatchObject({ count: 5_000, total: 5_003, truncated: true })
  expect([body.agents[0]?.fid, body.agents.at(-1)?.fid]).toEqual([4, 5_003])
  await api.stop()
  await many.drop()
})

test('a directory without claims has an empty document', async () => {
  const empty = await createTestDatabase()
  const api = await startApi(empty)
  const body = bulkDocument.parse(await (await api.get('/data/agents.json')).json())
  expect(body).toMatchObject({ count: 0, total: 0, truncated: false, agents: [] })
  await api.stop()
  await empty.drop()
})
