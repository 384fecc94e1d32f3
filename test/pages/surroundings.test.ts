import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Element, xml2js } from 'xml-js'
import { refreshRankings } from '../../db/queries/leaderboard/rankings.ts'
import { startApi, type TestApi } from '../support/api/api.ts'
import { textOf } from '../support/api/markup.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, countSettlements, insert, seedAgent, seedChainState, seedSettlement } from '../support/seed.ts'

const database = testDatabase()
let api: TestApi
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000)

beforeAll(async () => {
  api = await startApi(database)
  const { pool } = database
  for (const fid of [1, 2, 3]) {
    const addresses = [addressOf(`recipient ${fid}`)]
    await seedAgent(pool, { fid, chains: ['base'], addresses, changedAt: new Date('2026-04-01T00:00:00Z') })
  }
  const paid: [number, number][] = [
    ...[1, 1, 1, 20, 20].map((days): [number, number] => [1, days]),
    ...[1, 1, 1, 1].map((days): [number, number] => [2, days]),
  ]
  for (const [n, [fid, days]] of paid.entries()) {
    await seedSettlement(pool, { chain: 'base', recipient: addressOf(`recipient ${fid}`), block: n, at: daysAgo(days) })
  }
  await countSettlements(pool)
  await seedChainState(pool, { chain: 'base', indexed: 1_234_567, finalized: 1_234_500 })
  await seedChainState(pool, { chain: 'celo', indexed: 77, finalized: 70, at: daysAgo(2) })
  // Where only final blocks are read, the newest one is minutes old; where the tip is read, that is late.
  const beforeFinality = new Date(Date.now() - 13 * 60_000)
  await seedChainState(pool, { chain: 'polygon', indexed: 90, finalized: 90, at: beforeFinality })
  await seedChainState(pool, { chain: 'gnosis', indexed: 90, finalized: 80, at: beforeFinality })
  const state = { source: 'agent_uri', last_success_at: daysAgo(1 / 24) }
  await insert(pool, 'source_state', { ...state, subject: 'token:base:1', due_at: daysAgo(1), failures: 2 })
  await insert(pool, 'source_state', { ...state, subject: 'token:base:2', due_at: daysAgo(-1), failures: 0 })
})
afterAll(() => api.stop())

const read = async (path: string) => (await api.get(path)).text()

test.each(['7d', '30d', 'all'])('the leaderboard of %s ranks as the API does', async (period) => {
  const { agents } = (await (await api.get(`/api/leaderboard?period=${period}`)).json()) as {
    agents: { fid: number }[]
  }
  const page = await read(`/leaderboard?by=settlements&period=${period}`)
  const shown = [...page.matchAll(/class="name" href="\/agent\/(\d+)"/g)].map((match) => Number(match[1]))
  expect(shown).toEqual(agents.map(({ fid }) => fid))
  expect(shown).toEqual(period === '7d' ? [2, 1] : [1, 2])
})

test('the leaderboard offers orders, chains and own payments, and its JSON has the same agents', async () => {
  for (const query of [
    '',
    '?by=volume',
    '?by=payers&period=7d',
    '?chain=Base',
    '?by=settlements&self=with',
    '?chain=nowhere',
  ]) {
    const page = await read(`/leaderboard${query}`)
    const shown = [...page.matchAll(/class="name" href="\/agent\/(\d+)"/g)].map((match) => Number(match[1]))
    const json = /href="(\/api\/leaderboard[^"]*)">JSON/.exec(page)?.[1]?.replaceAll('&amp;', '&') as string
    const { agents } = (await (await api.get(json)).json()) as { agents: { fid: number }[] }
    if (agents.length > 0) expect([query, shown]).toEqual([query, agents.map(({ fid }) => fid)])
    expect(page).toContain('What an agent paid itself is')
  }
  expect(await read('/leaderboard?by=volume&chain=Base&self=with')).toContain(
    'href="/leaderboard?period=7d&amp;by=volume&amp;chain=Base&amp;self=with"',
  )
})

test('a rank says what was counted for it', async () => {
  expect(textOf(await read('/leaderboard?by=settlements&period=7d'))).toMatch(/4 settlements from \d+ payers?/)
})

test('before the first round of counting a ranking is said to be counted, not that nobody was paid', async () => {
  await database.pool.query('truncate ranking, ranking_day, ranking_round')
  const before = textOf(await read('/leaderboard?by=repeat_payers&period=all'))
  expect(before).toContain('This ranking is being counted: the first round is not over yet.')
  expect(before).toContain('Not counted yet')
  expect(before).not.toContain('No agent was paid')
  await refreshRankings({ pool: database.pool, now: () => new Date(), settlementOverloads: 'spec' })
  expect(textOf(await read('/leaderboard?by=volume&period=7d'))).toContain('2 agents, as of ')
  const nobody = textOf(await read('/leaderboard?by=volume&chain=Poly'))
  expect(nobody).toContain('No agent was paid in this time.')
  expect(nobody).toContain('0 agents, as of ')
})

test('a rank says how far it moved in a week, up or down', async () => {
  const { pool } = database
  await refreshRankings({ pool, now: () => new Date(), settlementOverloads: 'spec' })
  // A week ago the two were the other way round.
  await pool.query(`
    insert into ranking_day (day, period, measure, chain, own, fid, rank)
    select day - 7, period, measure, chain, own, fid, 3 - rank from ranking_day where rank in (1, 2)`)
  await pool.query(`
    insert into ranking_round (day, taken_at, counted_at)
    select day - 7, taken_at - interval '7 days', counted_at - interval '7 days' from ranking_round`)
  const page = await read('/leaderboard?period=all&by=payers&self=with')
  expect(textOf(page)).toContain('arrows since')
  expect([...page.matchAll(/<span class="unseen">((?:up|down) \d+)</g)].map((match) => match[1])).toEqual([
    'up 1',
    'down 1',
  ])
})

test('the status says which chain is behind, how far each is, and what each source has waiting', async () => {
  const page = await read('/status')
  expect(page).toContain('Behind: Celo, Gnosis.')
  expect(textOf(page)).toContain(' 1,234,567 1,234,500 ')
  expect(page).toContain('2 days')
  expect(page.match(/not started/g)).toHaveLength(3)
  expect(textOf(page)).toContain(' Registration documents 1 h ago 1 1 2 ')
})

test('the sitemap names every agent, with the time it changed', async () => {
  expect(await read('/robots.txt')).toContain('Sitemap: https://agents.example/sitemap.xml')
  const addresses = (document: string) => {
    const [root] = (xml2js(document) as Element).elements ?? []
    return root?.elements?.map(({ elements }) => elements?.[0]?.elements?.[0]?.text)
  }
  expect(addresses(await read('/sitemap.xml'))).toEqual(['https://agents.example/sitemap-1.xml'])
  const part = await read('/sitemap-1.xml')
  expect(addresses(part)?.slice(-3)).toEqual([1, 2, 3].map((fid) => `https://agents.example/agent/${fid}`))
  expect(part).toContain('<lastmod>2026-04-01T00:00:00.000Z</lastmod>')
  for (const path of ['/sitemap-2.xml', '/sitemap-0.xml', '/sitemap-x.xml', '/sitemap-999999.xml']) {
    expect((await api.get(path)).status).toBe(404)
  }
})

test('security.txt says whom to tell and until when that holds, where somebody is named', async () => {
  const path = '/.well-known/security.txt'
  expect((await api.get(path)).status).toBe(404)
  const security = { contact: 'mailto:security@agents.example', policy: 'https://agents.example/security' }
  const named = await startApi(database, { security, now: () => Date.parse('2026-11-23T12:34:56Z') })
  onTestFinished(() => named.stop())
  const answer = await named.get(path)
  expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect((await answer.text()).split('\n')).toEqual([
    'Contact: mailto:security@agents.example',
    'Expires: 2027-05-22T00:00:00.000Z',
    'Canonical: https://api.agents.example/.well-known/security.txt',
    'Preferred-Languages: en',
    'Policy: https://agents.example/security',
    '',
  ])
})

test('every page that the header names is there', async () => {
  const targets = [...(await read('/')).matchAll(/<li><a href="(\/[a-z]*)"/g)].map((match) => match[1] as string)
  expect(targets.length).toBe(5)
  for (const target of targets) expect([target, (await api.get(target)).status]).toEqual([target, 200])
})

test('a slash behind a page leads to the page, with what it was asked for', async () => {
  for (const [path, target] of [
    ['/leaderboard/', '/leaderboard'],
    ['/status/?a=b', '/status?a=b'],
    ['/agent/1/', '/agent/1'],
    ['/agent/1/feed.atom/', '/agent/1/feed.atom'],
    ['/claim/?fid=3', '/claim?fid=3'],
  ] as const) {
    const response = await api.get(path, { redirect: 'manual' })
    expect([path, response.status, response.headers.get('location')]).toEqual([path, 301, target])
  }
  for (const path of ['//elsewhere.example/', '/%5Celsewhere.example/', '//']) {
    const response = await api.get(path, { redirect: 'manual' })
    expect([path, response.headers.get('location')]).toEqual([path, null])
  }
})

test('a mistyped page is a page for a browser, and for a client what the API says', async () => {
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
  const page = await api.get('/leaderbord', { headers: { accept } })
  expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  const text = await page.text()
  expect(text).toContain('There is no such page')
  expect(text).toContain('There is nothing at /leaderbord.')
  // It leads on, and says of no section that one is in it.
  expect(text).toContain('<form class="search" action="/" role="search">')
  expect(text).not.toContain('aria-current')
  for (const headers of [{}, { accept: 'application/json' }] as Record<string, string>[]) {
    const answer = await api.get('/leaderbord', { headers })
    expect([answer.status, await answer.json()]).toMatchObject([404, { error: 'ERR_NOT_FOUND' }])
  }
  const data = await api.get('/api/leaderbord', { headers: { accept } })
  expect(data.headers.get('content-type')).toContain('application/json')
})

test('a name cannot turn the direction of a title', async () => {
  const { pool } = database
  await seedAgent(pool, {
    fid: 66,
    handle: 'a\u202eb',
    displayName: '\u2067evil\u202e name\u200f',
    changedAt: daysAgo(300),
  })
  const page = await (await api.get('/agent/66')).text()
  expect(page).toContain('<title>evil name (@ab) · agent-directory</title>')
  const head = page.slice(0, page.indexOf('</head>'))
  expect(head).not.toMatch(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/)
})

test('a program that writes to a page is told what a program is told', async () => {
  const response = await api.get('/agent/1', { method: 'POST' })
  expect([response.status, response.headers.get('allow')]).toEqual([404, 'GET, HEAD, OPTIONS'])
  expect(await response.json()).toMatchObject({ error: 'ERR_NOT_FOUND' })
})
