import { parseAtomFeed } from 'feedsmith'
import Parser from 'rss-parser'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Element } from 'xml-js'
import { chainNames } from '../../../config/chains.ts'
import { deriveAgents } from '../../../db/queries/agents/agents.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { child, entriesOf, textOf } from '../../support/api/feed-xml.ts'
import { chainRows } from '../../support/chain/rows.ts'
import { createTestDatabase, testDatabase } from '../../support/database.ts'
import { addressOf, insert, seedAgent, seedVerification } from '../../support/seed.ts'
import { until } from '../../support/until.ts'

const database = testDatabase()
let api: TestApi
const minute = (n: number) => new Date(Date.UTC(2026, 2, 1, 0, n))

beforeAll(async () => {
  api = await startApi(database)
  for (let n = 1; n <= 33; n++) await seedAgent(database.pool, { fid: n, listedAt: minute(n) })
  await seedAgent(database.pool, {
    fid: 100,
    handle: 'ada <b>&amp;',
    bio: `${'😀'.repeat(279)}é tail`,
    oli: 'DeFi & "more"',
    chains: ['ethereum', 'base', 'celo', 'arbitrum'],
    claimMethod: 'eip191',
    listedAt: minute(100),
    changedAt: minute(101),
  })
  await database.pool.query(`update agent set handle_assurance = 'signed' where fid = 100`)
  await seedAgent(database.pool, { fid: 99, handle: null, status: 'historical', listedAt: minute(99) })
})
afterAll(() => api.stop())

const terms = (entry: Element | undefined) =>
  entry?.elements?.filter((element) => element.name === 'category').map((element) => element.attributes?.term)
const read = async () => entriesOf(await (await api.get('/feed.atom')).text())

test('the feed is XML, may be cached for five minutes, and carries the hint to refresh', async () => {
  const response = await api.get('/feed.atom')
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/atom+xml; charset=utf-8')
  expect(response.headers.get('cache-control')).toBe('public, max-age=300')
  const { root } = entriesOf(await response.text())
  expect(root.attributes).toEqual({
    xmlns: 'http://www.w3.org/2005/Atom',
    'xmlns:sy': 'http://purl.org/rss/1.0/modules/syndication/',
  })
  expect([textOf(child(root, 'sy:updatePeriod')), textOf(child(root, 'sy:updateFrequency'))]).toEqual(['hourly', '12'])
  expect(textOf(child(root, 'id'))).toBe('https://api.agents.example/feed.atom')
  expect(textOf(child(root, 'updated'))).toBe(minute(101).toISOString())
})

test('the 30 newest agents are in it, claimed and auto-detected, newest first', async () => {
  const { entries } = await read()
  const ids = entries.map((entry) => textOf(child(entry, 'id'))?.split('/').at(-1))
  expect(ids).toEqual(['100', '99', ...Array.from({ length: 28 }, (_, n) => String(33 - n))])
})

describe('an entry', () => {
  test('has a title with the prefix [Verified] or [Auto-detected], then the handle and the FID', async () => {
    const { entries } = await read()
    const titles = entries.slice(0, 3).map((entry) => textOf(child(entry, 'title')))
    expect(titles).toEqual([
      '[Verified] ada <b>&amp; (FID 100)',
      '[Auto-detected] FID 99',
      '[Auto-detected] agent33 (FID 33)',
    ])
    expect(child(entries[0], 'title')?.attributes).toEqual({ type: 'text' })
  })

  test('has a link (alternate, text/html) and an id, both the address of the agent’s page', async () => {
    const { entries } = await read()
    expect(entries).not.toEqual([])
    for (const entry of entries) {
      const id = textOf(child(entry, 'id'))
      expect(id).toMatch(/^https:\/\/agents\.example\/agent\/\d+$/)
      expect(child(entry, 'link')?.attributes).toEqual({ rel: 'alternate', type: 'text/html', href: id })
    }
  })

  test('has published and updated times', async () => {
    const { entries } = await read()
    expect(textOf(child(entries[0], 'published'))).toBe(minute(100).toISOString())
    expect(textOf(child(entries[0], 'updated'))).toBe(minute(101).toISOString())
  })

  test('has an author with the handle and the address of the profile', async () => {
    const { entries } = await read()
    const author = child(entries[0], 'author')
    expect(textOf(child(author, 'name'))).toBe('ada <b>&amp;')
    expect(textOf(child(author, 'uri'))).toBe('https://agents.example/agent/100')
    expect(textOf(child(child(entries[1], 'author'), 'name'))).toBe('FID 99')
  })

  test('has a text summary with handle, FID, oli tag, chain list and claim method', async () => {
    const { entries } = await read()
    expect(child(entries[0], 'summary')?.attributes).toEqual({ type: 'text' })
    expect(textOf(child(entries[0], 'summary'))).toBe(
      'handle: ada <b>&amp;; FID: 100; oli: DeFi & "more"; chains: Eth, Base, Celo, Arb; claim method: eip191',
    )
    expect(textOf(child(entries[1], 'summary'))).toBe(
      'handle: none; FID: 99; oli: none; chains: none; claim method: none',
    )
    expect(textOf(child(entries[2], 'summary'))).toMatch(/^handle: agent33 \(stated\); FID: 33;/)
  })

  test('has HTML content with a profile link, oli tag, chain list and the first 280 characters of the bio', async () => {
    const { entries } = await read()
    const content = child(entries[0], 'content')
    expect(content?.attributes).toEqual({ type: 'html' })
    expect(textOf(content)).toBe(
      [
        '<p><a href="https://agents.example/agent/100">ada &lt;b&gt;&amp;amp; (FID 100)</a></p>',
        '<p>oli: DeFi &amp; &quot;more&quot;</p>',
        '<p>chains: Eth, Base, Celo, Arb</p>',
        `<p>${'😀'.repeat(279)}é</p>`,
      ].join('\n'),
    )
  })

  test('has categories for claim status, agent status, claim method and each chain', async () => {
    const { entries } = await read()
    expect(terms(entries[0])).toEqual([
      'claimed',
      'active',
      'claim:eip191',
      'chain:eth',
      'chain:base',
      'chain:celo',
      'chain:arb',
    ])
    expect(terms(entries[1])).toEqual(['unclaimed', 'historical'])
  })
})

test('a change of an agent makes a new document; without one the document keeps its tag', async () => {
  const before = await api.get('/feed.atom')
  const again = await api.get('/feed.atom')
  expect(again.headers.get('etag')).toBe(before.headers.get('etag'))
  expect(again.headers.has('age')).toBe(true)
  await database.pool.query(`update agent set handle = 'renamed', changed_at = now() where fid = 33`)
  await insert(database.pool, 'agent_change', { fid: 33, kind: 'upsert', changed_at: new Date() })
  await until('the feed shows the change', async () => (await (await api.get('/feed.atom')).text()).includes('renamed'))
  const { entries } = await read()
  expect(entries.map((entry) => textOf(child(entry, 'id')))).toHaveLength(30)
})

test('a directory without agents has a valid feed without entries', async () => {
  const empty = await createTestDatabase()
  const other = await startApi(empty)
  const { root, entries } = entriesOf(await (await other.get('/feed.atom')).text())
  expect([entries.length, textOf(child(root, 'updated'))]).toEqual([0, '1970-01-01T00:00:00.000Z'])
  await other.stop()
  await empty.drop()
})

test('a feed reader of others finds every field', async () => {
  const parser = new Parser({ customFields: { feed: ['sy:updatePeriod'], item: ['author', 'published', 'summary'] } })
  const feed = await parser.parseString(await (await api.get('/feed.atom')).text())
  expect(feed).toMatchObject({
    title: 'agent-directory: newest agents',
    link: 'https://agents.example/',
    feedUrl: 'https://api.agents.example/feed.atom',
    'sy:updatePeriod': 'hourly',
  })
  expect(feed.items).toHaveLength(30)
  expect(feed.items[0]).toMatchObject({
    title: '[Verified] ada <b>&amp; (FID 100)',
    link: 'https://agents.example/agent/100',
    id: 'https://agents.example/agent/100',
    isoDate: minute(100).toISOString(),
    published: minute(100).toISOString(),
    contentSnippet: expect.stringContaining('DeFi & "more"'),
  })
})

test('a second reader of others finds the same, with the types of texts, authors and categories', async () => {
  const feed = parseAtomFeed(await (await api.get('/feed.atom')).text())
  expect(feed).toMatchObject({
    id: 'https://api.agents.example/feed.atom',
    title: { value: 'agent-directory: newest agents' },
    updated: expect.stringMatching(/^\d{4}-/),
    sy: { updatePeriod: 'hourly', updateFrequency: 12 },
  })
  expect(feed.links).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ rel: 'self', href: 'https://api.agents.example/feed.atom' }),
      expect.objectContaining({ rel: 'alternate', href: 'https://agents.example/' }),
    ]),
  )
  expect(feed.entries).toHaveLength(30)
  const address = 'https://agents.example/agent/100'
  expect(feed.entries?.[0]).toMatchObject({
    id: address,
    title: { value: '[Verified] ada <b>&amp; (FID 100)', type: 'text' },
    links: [{ rel: 'alternate', type: 'text/html', href: address }],
    published: minute(100).toISOString(),
    updated: minute(101).toISOString(),
    authors: [{ name: 'ada <b>&amp;', uri: address }],
    summary: { value: expect.stringContaining('claim method: eip191'), type: 'text' },
    content: { value: expect.stringContaining('<p>chains: Eth, Base, Celo, Arb</p>'), type: 'html' },
    categories: ['claimed', 'active', 'claim:eip191', 'chain:eth', 'chain:base', 'chain:celo', 'chain:arb'].map(
      (term) => ({ term }),
    ),
  })
})

test('updated moves with what an entry shows, and with nothing else', async () => {
  const { url, pool, drop } = await createTestDatabase()
  onTestFinished(drop)
  await insert(pool, 'social_profile', {
    fid: 1,
    handle: 'one',
    bio: `${'x'.repeat(280)} and more`,
    updated_at: minute(0),
  })
  await insert(pool, 'claim', {
    fid: 1,
    method: 'eip191',
    nonce: 'one',
    proof: '{}',
    proof_sha256: Buffer.alloc(32),
    signer: address,
    received_at: minute(0),
    claimed_at: minute(0),
    verified_addresses: [],
  })
  const updatedAt = async (sql: string, now: Date) => {
    await pool.query(sql)
    await deriveAgents(pool, { fids: [1], chainOrder: chainNames, now })
    const api = await startApi({ url, pool })
    const feed = await (await api.get('/feed.atom')).text()
    await api.stop()
    return /<entry>.*?<updated>(.*?)<\/updated>/s.exec(feed)?.[1]
  }
  const said = (assignment: string) => `update social_profile set ${assignment}`
  const time = (n: number) => minute(n).toISOString()
  expect(await updatedAt('select', minute(1))).toBe(time(1))
  const same = time(1)
  expect(await updatedAt(said(`pfp_url = 'https://a.example/b.png', display_name = 'Unseen'`), minute(5))).toBe(same)
  expect(await updatedAt(said(`bio = bio || ' behind the cut', last_message_at = now()`), minute(6))).toBe(same)
  expect(await updatedAt(said('handle = handle'), minute(7))).toBe(same)
  expect(await updatedAt(said(`handle = 'renamed'`), minute(8))).toBe(time(8))
  await seedVerification(pool, { fid: 1, address })
  await chainRows(pool).transfer({ chain: 'base', id: 1 }, null, address, minute(9))
  expect(await updatedAt('select', minute(9))).toBe(time(9)) // it is active
  expect(await updatedAt(said(`handle_witness = 'https://hub.example'`), minute(10))).toBe(time(10))
  await insert(pool, 'custody_reading', {
    fid: 1,
    address: bytesOf(address),
    block_number: 1,
    block_hash: Buffer.alloc(32),
    read_at: minute(10),
  })
  expect(await updatedAt(said(`handle_owner = '\\x${address.slice(2)}'`), minute(11))).toBe(time(10)) // proven now
})

const address = addressOf('one')
const bytesOf = (one: string) => Buffer.from(one.slice(2), 'hex')
