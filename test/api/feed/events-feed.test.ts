import { parseAtomFeed } from 'feedsmith'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { documentLimits } from '../../../config/limits.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { child, entriesOf, textOf } from '../../support/api/feed-xml.ts'
import { testDatabase } from '../../support/database.ts'
import { seedAgent } from '../../support/seed.ts'

const baseUrl = 'https://api.agents.example'
const { archiveEvents } = documentLimits

const database = testDatabase()
let api: TestApi
let ahead = 0
beforeAll(async () => {
  const now = () => {
    ahead += 600_000 // every request finds the cached answers stale
    return Date.now() + ahead
  }
  api = await startApi(database, { now })
})
afterAll(() => api.stop())

async function read(url: string) {
  const answer = await api.get(url.replace(baseUrl, ''))
  expect([url, answer.status]).toEqual([url, 200])
  const text = await answer.text()
  parseAtomFeed(text)
  const { root, entries } = entriesOf(text)
  const elements = root.elements ?? []
  const links = Object.fromEntries(
    elements.filter(({ name }) => name === 'link').map(({ attributes }) => [attributes?.rel, attributes?.href]),
  ) as Record<string, string | undefined>
  const titles = entries.map((entry) => textOf(child(entry, 'title')))
  const ids = entries.map((entry) => textOf(child(entry, 'id')) as string)
  return { text, links, titles, ids, isArchive: elements.some(({ name }) => name === 'fh:archive') }
}

/** Ids of all entries without duplicates, from the newest page back through the archive pages. */
async function walk() {
  const ids = new Set<string>()
  for (let url: string | undefined = `${baseUrl}/feed/events.atom`; url !== undefined; ) {
    const page: Awaited<ReturnType<typeof read>> = await read(url)
    for (const id of page.ids) ids.add(id)
    url = page.links['prev-archive']
  }
  return [...ids]
}

test('what becomes of an agent is an entry each, in the words of that moment', async () => {
  const { pool } = database
  await seedAgent(pool, { fid: 1, handle: 'ada' })
  await pool.query(`update agent set claimed = true, claim_method = 'jfs', claimed_at = now() where fid = 1`)
  await pool.query(`update agent set bio = 'no event', handle = 'a&b <c>' where fid = 1`)
  await pool.query(`update agent set agent_status = 'historical', claimed = false, claim_method = null where fid = 1`)
  await pool.query('delete from agent where fid = 1')
  const { titles, links, isArchive, text } = await read('/feed/events.atom')
  const terms = text
    .split('<entry>')
    .slice(1)
    .map((entry) => [...entry.matchAll(/term="(.*?)"/g)].map(([, term]) => term))
  expect(terms.slice(0, 2)).toEqual([['delisted'], ['unclaimed', 'historical']]) // who left has no status
  expect(titles).toEqual([
    'a&b <c> (FID 1) left the directory',
    'a&b <c> (FID 1) is claimed no more',
    'a&b <c> (FID 1) is historical now',
    'ada (FID 1) was claimed by its owner',
    'ada (FID 1) is in the directory now',
  ])
  expect([links['prev-archive'], isArchive]).toEqual([undefined, false])
})

test('events of an account that took itself out give no handle until it is listed again', async () => {
  const { pool } = database
  await pool.query('insert into unlisted (fid, since) values (1, now())')
  const { titles, text } = await read('/feed/events.atom')
  expect(titles).toEqual([
    'FID 1 left the directory',
    'FID 1 is claimed no more',
    'FID 1 is historical now',
    'FID 1 was claimed by its owner',
    'FID 1 is in the directory now',
  ])
  expect(text).not.toMatch(/ada|a&amp;b/)
  await pool.query('delete from unlisted')
  expect((await read('/feed/events.atom')).titles.at(-1)).toBe('ada (FID 1) is in the directory now')
})

test('nobody alters an event', async () => {
  await expect(database.pool.query(`update directory_event set handle = 'other'`)).rejects.toThrow(/never changed/)
  await expect(database.pool.query('delete from directory_event')).rejects.toThrow(/never changed/)
})

test('archives lead from the newest event back to the first, and keep their entries while others come', async () => {
  const agents = 2 * archiveEvents + 30
  for (let fid = 10; fid < 10 + agents; fid++) await seedAgent(database.pool, { fid })
  const { rows } = await database.pool.query('select fid, seq from directory_event order by seq desc')
  const all = rows.map(({ fid, seq }) => `https://agents.example/agent/${fid}#event-${seq}`)
  expect(await walk()).toEqual(all)

  const first = await read('/feed/events/1.atom')
  expect(first.isArchive).toBe(true)
  expect(first.links).toMatchObject({
    self: `${baseUrl}/feed/events/1.atom`,
    current: `${baseUrl}/feed/events.atom`,
    'next-archive': `${baseUrl}/feed/events/2.atom`,
  })
  const second = await read('/feed/events/2.atom')
  expect([second.links['prev-archive'], second.links['next-archive']]).toEqual([
    `${baseUrl}/feed/events/1.atom`,
    undefined,
  ])
  await database.pool.query(`update agent set handle = 'renamed', agent_status = 'historical'`)
  expect((await read('/feed/events/1.atom')).text).toBe(first.text)
  expect((await read('/feed/events/2.atom')).ids).toEqual(second.ids)
  expect((await walk()).length).toBe(all.length + agents)
})

test.for(['/feed/events/0.atom', '/feed/events/9.atom', '/feed/events/x.atom', '/feed/events/99999999999999999.atom'])(
  '%s is not there',
  async (path) => {
    expect((await api.get(path)).status).toBe(404)
  },
)
