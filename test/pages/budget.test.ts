import { afterAll, beforeAll, expect, test } from 'vitest'
import { MemoryStore } from '../../api/limits/memory-store.ts'
import { startApi, type TestApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import { seedAgent } from '../support/seed.ts'

const database = testDatabase()
let api: TestApi
const clock = { now: Date.parse('2026-11-20T12:00:00Z') }
beforeAll(async () => {
  await seedAgent(database.pool, { fid: 1 })
  const limits = { perMinute: 60, perDay: 2_000 }
  const now = () => clock.now
  api = await startApi(database, {
    trustProxyHops: 1,
    now,
    limiter: { limits, store: new MemoryStore(limits, now), now },
  })
})
afterAll(() => api.stop())
const from = (client: string, path: string) => api.get(path, { headers: { 'x-forwarded-for': client } })

test('a client gets 120 pages a minute, feeds and sitemaps among them; the next one is a page that says when', async () => {
  const paths = ['/', '/agent/1', '/agent/1/feed.atom', '/sitemap.xml', '/leaderboard', '/claim']
  for (let n = 0; n < 120; n++) expect((await from('192.0.2.1', paths[n % 6] as string)).status).toBe(200)
  for (const path of paths) {
    const refused = await from('192.0.2.1', path)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    expect(refused.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(refused.headers.get('cache-control')).toBe('no-store')
    const page = await refused.text()
    expect(page).toContain('Too many pages')
    // The page links to none that would be refused as well.
    expect(page.slice(page.indexOf('<main'), page.indexOf('</main>'))).not.toContain('href')
  }
  // Pages for other clients, assets and the API are not limited by it.
  expect((await from('192.0.2.2', '/')).status).toBe(200)
  expect((await from('192.0.2.1', '/assets/style.css')).status).toBe(200)
  const read = await from('192.0.2.1', '/api/agent/1')
  expect([read.status, read.headers.get('ratelimit')]).toEqual([200, expect.stringContaining('r=59')])
  clock.now += 60_001
  expect((await from('192.0.2.1', '/')).status).toBe(200)
})
