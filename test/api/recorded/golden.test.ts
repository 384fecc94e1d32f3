import { afterAll, beforeAll, expect, test } from 'vitest'
import { refreshRankings } from '../../../db/queries/leaderboard/rankings.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import {
  addressOf,
  countSettlements,
  insert,
  seedAgent,
  seedChainState,
  seedHolding,
  seedRegistration,
  seedSettlement,
} from '../../support/seed.ts'

// Answers to requests that use no newer parameter, as they were when those parameters came: status, headers and body,
// byte for byte. A difference is a change that clients notice; `npx vitest run test/api/recorded/golden.test.ts -u` records it.

const database = testDatabase()
let api: TestApi
const [one, two, three] = ['one', 'two', 'three'].map(addressOf) as [string, string, string]
const at = (minute: number) => new Date(Date.UTC(2026, 2, 1, 0, minute))

beforeAll(async () => {
  api = await startApi(database)
  const { pool } = database
  await seedAgent(pool, {
    fid: 1,
    handle: 'ada',
    displayName: 'Ada “L”',
    bio: 'counts',
    oli: 'Ada Labs',
    chains: ['base', 'celo'],
    addresses: [one, two],
    claimMethod: 'jfs',
    claimedAt: at(5),
    listedAt: at(1),
    hasSpec: true,
  })
  await seedAgent(pool, { fid: 2, handle: 'bob', addresses: [three], status: 'historical', listedAt: at(2) })
  await seedAgent(pool, { fid: 3, handle: null, status: 'claimed-only', claimMethod: 'eip191', listedAt: at(3) })
  await seedRegistration(pool, { chain: 'base', id: 0, owner: one, wallet: two, uri: 'https://a.example/0' })
  await seedRegistration(pool, { chain: 'celo', id: 7, owner: two })
  await seedRegistration(pool, { chain: 'polygon', id: 9, owner: addressOf('stranger'), block: 77 })
  await seedHolding(pool, { fid: 1, chain: 'celo', id: 7, by: two })
  await seedHolding(pool, { fid: 1, chain: 'base', id: 0, by: one })
  const released = { reason: 'transfer', block: 140, at: at(9), to: addressOf('stranger') } as const
  await seedHolding(pool, { fid: 2, chain: 'polygon', id: 9, by: three, released })
  await insert(pool, 'registration_document', {
    chain: 'base',
    agent_id: '0',
    uri_sha256: Buffer.alloc(32),
    uri_status: 'ok',
    name: 'Ada',
    updated_at: at(2),
    services: JSON.stringify([{ name: 'A2A', endpoint: 'https://a.example/a2a', version: '0.3.0' }]),
  })
  await seedChainState(pool, { chain: 'base', indexed: 40, finalized: 20, at: at(40) })
  for (let n = 1; n <= 25; n++) {
    const selector = n === 13 ? '0x88b7ab63' : '0xe3ee160e'
    await seedSettlement(pool, { chain: 'base', recipient: n % 2 ? one : three, block: n, at: at(n), selector })
  }
  await seedSettlement(pool, { chain: 'celo', recipient: two, block: 900, at: at(25), amount: 7n })
  await countSettlements(pool, at(60))
  await refreshRankings({ pool, now: () => new Date(), settlementOverloads: 'spec' })
})
afterAll(() => api.stop())

const paths = [
  '/api/agent/1',
  '/api/agent/2',
  '/api/agent/3',
  '/api/agent/4',
  '/api/agent/x',
  '/api/agent/1/settlements',
  '/api/agent/1/settlements?limit=3',
  '/api/agent/3/settlements',
  '/api/agent/9/settlements',
  '/api/agent/1/settlements?limit=500',
  '/api/discovery',
  '/api/discovery?sort=oldest&limit=10',
  '/api/discovery?sort=most-active&chain=Celo&chain=x',
  '/api/discovery?q=AD&claimed=claimed&spec=true',
  '/api/discovery?page=2&limit=10&sort=cross-chain',
  `/api/discovery?q=${three}`,
  `/api/by-address/${one}`,
  `/api/by-address/${addressOf('stranger')}`,
  `/api/by-address/${addressOf('nobody')}`,
  '/api/leaderboard',
  '/api/leaderboard?period=all',
  '/api/leaderboard?period=all&limit=1',
  '/api/stats',
  '/feed.atom',
  '/feed.atom?claimed=claimed',
  '/data/agents.json',
  '/data/changes.ndjson',
  '/api/nothing',
  '/api/agent/1/',
  '/api/agent/1/settlements/',
]

test('a request that had a meaning before is answered as before', async () => {
  const answers: string[] = []
  for (const path of paths) {
    const response = await api.get(path, { headers: { 'accept-encoding': 'identity' } })
    const headers = [...response.headers]
      .filter(([name]) => !unlike.has(name))
      .map(([name, value]) => `${name}: ${value}`)
    const body = (await response.text())
      .replaceAll(/"generated_at" ?: ?"[^"]+"/g, '"generated_at":"…"')
      .replaceAll(/"lag_seconds" ?: ?\d+/g, '"lag_seconds":…')
    answers.push([`GET ${path}`, response.status, ...headers, '', body].join('\n'))
  }
  await expect(`${answers.join('\n\n')}\n`).toMatchFileSnapshot('golden-answers.txt')
})

/** Headers that are not compared: they depend on the moment, or derive from a value that does. */
const unlike = new Set([
  'age',
  'date',
  'etag',
  'x-request-id',
  'ratelimit',
  'content-length',
  'keep-alive',
  'connection',
])
