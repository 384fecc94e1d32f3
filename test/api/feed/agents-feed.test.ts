import { parseAtomFeed } from 'feedsmith'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../../../db/pool.ts'
import { delistedAgents } from '../../../db/queries/agents/newest-agents.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { child, entriesOf, textOf } from '../../support/api/feed-xml.ts'
import { testDatabase } from '../../support/database.ts'
import { insert, seedAgent } from '../../support/seed.ts'

const agents = 230
const baseUrl = 'https://api.agents.example'
const now = Date.UTC(2026, 5, 1)
const daysAgo = (days: number) => new Date(now - days * 86_400_000)

const database = testDatabase()
let api: TestApi
beforeAll(async () => {
  const { pool } = database
  for (let fid = 1; fid <= agents; fid++) {
    const listedAt = new Date(Date.UTC(2026, 2, 1, 0, fid))
    await seedAgent(pool, { fid, listedAt, chains: [fid % 2 ? 'base' : 'celo'], claimMethod: fid <= 5 ? 'jfs' : null })
  }
  await pool.query('truncate agent_change')
  const changes = [
    { fid: 501, kind: 'delist', changed_at: daysAgo(31) },
    { fid: 502, kind: 'delist', changed_at: daysAgo(29) },
    { fid: 503, kind: 'delist', changed_at: daysAgo(3) },
    { fid: 503, kind: 'upsert', changed_at: daysAgo(2) },
    { fid: 503, kind: 'delist', changed_at: daysAgo(1) },
    { fid: 7, kind: 'delist', changed_at: daysAgo(1) }, // and back again
  ]
  for (const change of changes) await insert(pool, 'agent_change', change)
  api = await startApi(database, { now: () => now })
})
afterAll(() => api.stop())

async function read(url: string) {
  const answer = await api.get(url.replace(baseUrl, ''))
  expect([url, answer.status, answer.headers.get('content-type')]).toEqual([
    url,
    200,
    'application/atom+xml; charset=utf-8',
  ])
  const text = await answer.text()
  expect(parseAtomFeed(text).id).toBeTypeOf('string')
  const { root, entries } = entriesOf(text)
  const elements = root.elements ?? []
  const links = Object.fromEntries(
    elements.filter(({ name }) => name === 'link').map(({ attributes }) => [attributes?.rel, attributes?.href]),
  ) as Record<string, string | undefined>
  const deleted = elements.filter(({ name }) => name === 'at:deleted-entry').map(({ attributes }) => attributes)
  const fids = entries.map((entry) => Number(textOf(child(entry, 'id'))?.split('/').at(-1)))
  return { id: textOf(child(root, 'id')), root, links, deleted, fids }
}

async function walk(first: string) {
  const pages = []
  for (let url: string | undefined = first; url !== undefined; ) {
    const page: Awaited<ReturnType<typeof read>> = await read(url)
    expect(page.links.self).toBe(url.startsWith('/') ? baseUrl + url : url)
    pages.push(page)
    url = page.links.next
  }
  return pages
}

test('followed by its links the feed has every agent once, newest first, under one id', async () => {
  const pages = await walk('/feed/agents.atom')
  expect(pages.map(({ fids }) => fids.length)).toEqual([100, 100, 30])
  expect(pages.flatMap(({ fids }) => fids)).toEqual(Array.from({ length: agents }, (_, n) => agents - n))
  for (const [index, { id, links }] of pages.entries()) {
    expect([id, links.first]).toEqual([`${baseUrl}/feed/agents.atom`, `${baseUrl}/feed/agents.atom`])
    expect(links.last).toBe(`${baseUrl}/feed/agents.atom?page=3`)
    expect(links.previous).toBe(index === 0 ? undefined : pages[index - 1]?.links.self)
  }
})

test('a filter keeps to its agents on every page', async () => {
  const pages = await walk('/feed/agents.atom?chain=Base')
  expect(pages.flatMap(({ fids }) => fids)).toEqual(
    Array.from({ length: agents }, (_, n) => agents - n).filter((fid) => fid % 2 === 1),
  )
  const [claimed, ...more] = await walk('/feed/agents.atom?claimed=claimed')
  expect([claimed?.fids, claimed?.links.last, more]).toEqual([
    [5, 4, 3, 2, 1],
    `${baseUrl}/feed/agents.atom?claimed=claimed`,
    [],
  ])
})

test('the first page names who left within 30 days, once, the last first, and nobody who came back', async () => {
  const [first, second] = await walk('/feed/agents.atom')
  expect(first?.root.attributes?.['xmlns:at']).toBe('http://purl.org/atompub/tombstones/1.0')
  expect(first?.deleted).toEqual([
    { ref: 'https://agents.example/agent/503', when: daysAgo(1).toISOString() },
    { ref: 'https://agents.example/agent/502', when: daysAgo(29).toISOString() },
  ])
  expect(second?.deleted).toEqual([])
})

test('a page behind the last one is not there; one that is no number is the first', async () => {
  expect((await api.get('/feed/agents.atom?page=4')).status).toBe(404)
  expect((await read('/feed/agents.atom?page=zero')).fids[0]).toBe(agents)
  expect((await read('/feed/agents.atom?chain=nowhere')).fids).toEqual([])
})

test('who left is found among many changes without reading them', async () => {
  const { pool } = database
  await pool.query(
    `insert into agent_change (fid, kind, changed_at)
     select case when n % 100 = 0 then 10000 + n else 1 end, case when n % 100 = 0 then 'delist' else 'upsert' end,
            $1::timestamptz + n * interval '1 second'
       from generate_series(1, 29000) n`,
    [daysAgo(20)],
  )
  await pool.query('analyze agent_change') // few enough rows that all of them are looked at
  await inTransaction(pool, async (client) => {
    const gone = await delistedAgents(client, { since: daysAgo(30), limit: 100 })
    expect([gone.length, gone[0]?.fid, gone[1]?.fid]).toEqual([100, 503, 39_000])
    const { rows } = await client.query(
      `select (idx_tup_fetch + seq_tup_read)::int as n from pg_stat_xact_user_tables where relname = 'agent_change'`,
    )
    expect(rows[0].n).toBeLessThan(2_000)
  })
})
