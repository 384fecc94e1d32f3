import Parser from 'rss-parser'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApi, type TestApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, seedAgent, seedChainState, seedHolding, seedRegistration, seedSettlement } from '../support/seed.ts'

const database = testDatabase()
let api: TestApi
const minute = (n: number) => new Date(Date.UTC(2026, 2, 1, 0, n))
const hers = addressOf('hers')

beforeAll(async () => {
  api = await startApi(database)
  const { pool } = database
  const chains = [['base'], ['celo'], ['base', 'celo'], []] as const
  for (let n = 1; n <= 40; n++) {
    const claimMethod = n % 2 ? ('jfs' as const) : null
    await seedAgent(pool, { fid: n, chains: [...(chains[n % 4] ?? [])], claimMethod, listedAt: minute(n) })
  }
  await seedAgent(pool, {
    fid: 100,
    handle: 'ada',
    displayName: 'Ada <b>&',
    chains: ['base'],
    addresses: [hers],
    listedAt: minute(0),
    claimMethod: 'eip191',
    claimedAt: minute(30),
  })
  await seedRegistration(pool, { chain: 'base', id: 5, owner: hers, at: minute(10) })
  await seedHolding(pool, { fid: 100, chain: 'base', id: 5, by: hers, at: minute(10) })
  await seedChainState(pool, { chain: 'base', indexed: 60, finalized: 50 })
  for (const block of [49, 50, 51]) {
    await seedSettlement(pool, { chain: 'base', recipient: hers, block, at: minute(block) })
  }
})
afterAll(() => api.stop())

const read = async (path: string) => new Parser().parseString(await (await api.get(path)).text())
const fidsOf = ({ items }: Awaited<ReturnType<typeof read>>) => items.map(({ link }) => Number(link?.split('/').at(-1)))

test.each([
  ['?chain=Base', (n: number) => n % 4 === 0 || n % 4 === 2],
  ['?chain=base&chain=42220', (n: number) => n % 4 !== 3],
  ['?claimed=claimed', (n: number) => n % 2 === 1],
  ['?chain=Celo&claimed=unclaimed', (n: number) => n % 4 === 2],
  ['?chain=nowhere', () => false],
  ['?claimed=perhaps&colour=red', () => true],
])('the feed of %s has the newest of those agents alone', async (query, belongs) => {
  const newest = Array.from({ length: 40 }, (_, n) => 40 - n).filter(belongs)
  expect(fidsOf(await read(`/feed.atom${query}`)).filter((fid) => fid <= 40)).toEqual(newest.slice(0, 30))
})

test('a filtered feed has an id of its own, the same however its address is written', async () => {
  const ids = await Promise.all(
    ['?claimed=claimed&chain=Celo&chain=8453', '?chain=Base&chain=celo&claimed=claimed&x=1'].map(
      async (query) => /<id>([^<]+)<\/id>/.exec(await (await api.get(`/feed.atom${query}`)).text())?.[1],
    ),
  )
  expect(new Set(ids)).toEqual(
    new Set(['https://api.agents.example/feed.atom?chain=Base&amp;chain=Celo&amp;claimed=claimed']),
  )
  expect((await read('/feed.atom')).title).toBe('agent-directory: newest agents')
  expect((await read('/feed.atom?chain=Base&claimed=claimed')).title).toBe(
    'agent-directory: newest claimed agents on Base',
  )
})

test('the feed of an agent tells what happened to it and what it was paid for good, newest first', async () => {
  const response = await api.get('/agent/100/feed.atom')
  expect(response.headers.get('content-type')).toBe('application/atom+xml; charset=utf-8')
  const { title, items } = await read('/agent/100/feed.atom')
  expect(title).toBe('agent-directory: Ada <b>&')
  const from = `from ${addressOf('payer')}`
  expect(items.map((item) => [item.title, item.isoDate])).toEqual([
    [`Received $1.50 on Base ${from}`, minute(50).toISOString()],
    [`Received $1.50 on Base ${from}`, minute(49).toISOString()],
    ['Claimed by its owner', minute(30).toISOString()],
    ['Registered #5 on Base; now active', minute(10).toISOString()],
  ])
  expect(new Set(items.map(({ id }) => id)).size).toBe(4)
})

test('every entry points at its place on the page of the agent', async () => {
  const page = await (await api.get('/agent/100')).text()
  const { items } = await read('/agent/100/feed.atom')
  expect(items).not.toEqual([])
  for (const { link } of items) {
    const [address, anchor] = (link ?? '').split('#')
    expect(address).toBe('https://agents.example/agent/100')
    expect(page).toContain(`id="${anchor}"`)
  }
})

test('an agent that is not there has no feed', async () => {
  expect((await api.get('/agent/999/feed.atom')).status).toBe(404)
})
