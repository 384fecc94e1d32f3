import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addressSubjectAnswer } from '../../api/schemas/addresses/by-address.ts'
import { bulkDocument, profile } from '../../api/schemas/agents/profile.ts'
import { discoveryList } from '../../api/schemas/directory/discovery.ts'
import { stats } from '../../api/schemas/directory/stats.ts'
import { leaderboardAnswer } from '../../api/schemas/leaderboard/leaderboard.ts'
import { settlementList } from '../../api/schemas/settlements/settlement.ts'
import { chainNames } from '../../config/chains.ts'
import { failure, startApi, type TestApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import {
  addressOf,
  countSettlements,
  seedAgent,
  seedHolding,
  seedRegistration,
  seedSettlement,
} from '../support/seed.ts'

// The rules for GET requests (docs/rules.md 1 to 4); those of the feed are in feed/feed.test.ts, those about limits in
// limits/limits.test.ts and limits/redis.test.ts.

const database = testDatabase()
let api: TestApi
const ada = addressOf('ada')
const paid = chainNames.filter((name) => name !== 'gnosis')

beforeAll(async () => {
  api = await startApi(database)
  const { pool } = database
  await seedAgent(pool, { fid: 1, handle: 'ada', addresses: [ada], chains: ['base', 'celo'], claimMethod: 'eip191' })
  await seedRegistration(pool, { chain: 'base', id: 0, owner: ada })
  await seedRegistration(pool, { chain: 'celo', id: 9, owner: ada })
  await seedHolding(pool, { fid: 1, chain: 'base', id: 0, by: ada })
  await seedHolding(pool, { fid: 1, chain: 'celo', id: 9, by: ada })
  await seedAgent(pool, { fid: 2, handle: 'bob', addresses: [addressOf('bob')], chains: ['gnosis'] })
  await seedAgent(pool, { fid: 3, handle: 'eve', status: 'historical' })
  await seedAgent(pool, { fid: 4, handle: 'new', status: 'claimed-only', claimMethod: 'jfs' })
  await seedRegistration(pool, { chain: 'polygon', id: 3, owner: addressOf('nobody'), block: 77 })
  for (const [block, chain] of paid.entries()) {
    const at = new Date(Date.now() - block * 3_600_000)
    const selector = block % 2 ? '0xef55bec6' : '0xe3ee160e'
    await seedSettlement(pool, { chain, recipient: ada, block, at, selector, payer: addressOf(`payer ${block}`) })
  }
  await countSettlements(pool)
})
afterAll(() => api.stop())

/** Parsed JSON of an answer that has to be a 200 with this `max-age` in seconds. */
async function ok(path: string, maxAge: number): Promise<unknown> {
  const response = await api.get(path)
  expect([response.status, response.headers.get('cache-control')]).toEqual([200, `public, max-age=${maxAge}`])
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  return response.json()
}
const refused = async (path: string) => failure(await api.get(path))

describe('What the service does', () => {
  test('every endpoint returns JSON with Cache-Control: public, max-age=N; the feed is XML', async () => {
    for (const path of ['/api/agent/1', '/api/agent/1/settlements', '/api/discovery', `/api/by-address/${ada}`]) {
      await ok(path, 30)
    }
    await ok('/api/leaderboard', 60)
    await ok('/api/stats', 60)
    await ok('/data/agents.json', 300)
    const feed = await api.get('/feed.atom')
    expect([feed.headers.get('content-type'), feed.headers.get('cache-control')]).toEqual([
      'application/atom+xml; charset=utf-8',
      'public, max-age=300',
    ])
  })

  test('CORS is open to the service’s own web origin and to localhost on any port', async () => {
    for (const origin of ['https://agents.example', 'http://localhost:5173', 'https://localhost']) {
      const preflight = await api.get('/api/stats', { method: 'OPTIONS', headers: { origin } })
      expect(preflight.headers.get('access-control-allow-origin')).toBe(origin)
    }
  })

  test('from other origins, simple GET requests work with no preflight', async () => {
    const response = await api.get('/api/stats', { headers: { origin: 'https://elsewhere.example' } })
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, '*'])
  })

  test('there is no signup and no API key: a bare request is answered', async () => {
    expect((await api.get('/api/agent/1', { headers: {} })).status).toBe(200)
  })

  test('all GET endpoints are idempotent: asking again gives the same and changes nothing', async () => {
    const paths = ['/api/agent/1', '/api/discovery', '/data/agents.json', '/feed.atom', '/api/agent/1/settlements']
    const ask = () => Promise.all(paths.map(async (path) => (await api.get(path)).text()))
    const { pool } = database
    const { rows: tables } = await pool.query<{ name: string }>(
      `select format('%I.%I', schemaname, relname) as name from pg_stat_user_tables order by 1`,
    )
    // Where each row lies, and who wrote it: another value after any change.
    const written = () =>
      Promise.all(
        tables.map(async ({ name }) => {
          const text = `select count(*), md5(string_agg(ctid::text || xmin::text, ',' order by ctid)) from only ${name}`
          return [name, (await pool.query(text)).rows[0]]
        }),
      )
    const first = await ask() // what is served for the first time is noted as produced then
    const before = await written()
    expect(await ask()).toEqual(first)
    expect(await written()).toEqual(before)
  })
})

describe('States and transitions', () => {
  test('agent_status takes one of: active, historical, claimed-only', async () => {
    const states = [1, 3, 4].map(async (fid) => profile.parse(await ok(`/api/agent/${fid}`, 30)).agent_status)
    expect(await Promise.all(states)).toEqual(['active', 'historical', 'claimed-only'])
  })

  test('an agent that is not claimed can still be listed', async () => {
    const { agents } = discoveryList.parse(await ok('/api/discovery?claimed=unclaimed', 30))
    expect(agents.map((agent) => agent.fid).sort()).toEqual([2, 3])
  })
})

describe('GET /api/agent/:fid', () => {
  test('returns the full agent profile in one response', async () => {
    const body = profile.parse(await ok('/api/agent/1', 30))
    expect(body).toMatchObject({ fid: 1, handle: 'ada', claimed: true, settlements_all: 6, verified_addresses: [ada] })
    expect(body.erc8004_records.map((record) => `${record.chain} ${record.erc8004_id}`)).toEqual(['base 0', 'celo 9'])
  })

  test('404 ERR_NOT_FOUND: the FID is not in the index', async () => {
    expect(await refused('/api/agent/99')).toMatchObject({ status: 404, error: 'ERR_NOT_FOUND' })
  })

  test.each(['abc', '0', '-1', '1.5'])(
    '400 ERR_FID_INVALID when fid is non-numeric, zero, negative or no integer: %s',
    async (fid) => {
      expect(await refused(`/api/agent/${fid}`)).toMatchObject({ status: 400, error: 'ERR_FID_INVALID' })
    },
  )
})

describe('GET /api/agent/:fid/settlements', () => {
  test('returns an object with fid, count (the number of rows returned) and settlements', async () => {
    const body = settlementList.parse(await ok('/api/agent/1/settlements?limit=4', 30))
    expect([body.fid, body.count, body.settlements.length]).toEqual([1, 4, 4])
  })

  test('a row says transaction, block, time, payer, recipient, amount, chain and selector', async () => {
    const { settlements } = settlementList.parse(await ok('/api/agent/1/settlements', 30))
    expect(settlements[0]).toMatchObject({
      tx_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      block_number: 0,
      block_timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      payer_address: addressOf('payer 0'),
      recipient_address: ada,
      amount_usdc: 1.5,
      chain: 'ethereum',
      selector: '0xe3ee160e',
    })
  })

  test('settlements of either selector on six chains are there', async () => {
    const { settlements } = settlementList.parse(await ok('/api/agent/1/settlements', 30))
    expect(settlements.map((row) => row.chain)).toEqual(paid)
    expect(new Set(settlements.map((row) => row.selector))).toEqual(new Set(['0xe3ee160e', '0xef55bec6']))
  })
})

describe('GET /api/discovery', () => {
  test('the body has agents (at most limit long), total, limit, offset, page and count', async () => {
    const body = discoveryList.parse(await ok('/api/discovery?limit=10&page=1', 30))
    expect(body).toMatchObject({ total: 4, limit: 10, offset: 0, page: 1, count: 4 })
    expect(Object.keys(body).sort()).toEqual(['agents', 'count', 'limit', 'offset', 'page', 'total'])
  })

  test.each([
    ['q: handle', 'q=EV', [3]],
    ['q: FID (exact match)', 'q=2', [2]],
    ['q: verified address (exact match)', `q=${ada}`, [1]],
    ['chain is repeatable; several values combine with OR', 'chain=Celo&chain=Gnosis', [2, 1]],
    ['claimed: claimed', 'claimed=claimed', [4, 1]],
    ['sort: newest is the default', '', [4, 3, 2, 1]],
    ['sort: cross-chain', 'sort=cross-chain', [1, 2, 4, 3]],
  ])('%s', async (_sentence, query, fids) => {
    const { agents } = discoveryList.parse(await ok(`/api/discovery?${query}`, 30))
    expect(agents.map((agent) => agent.fid)).toEqual(fids)
  })
})

describe('GET /api/by-address/:address', () => {
  test('the address must match 0x and 40 hexadecimal digits, otherwise 400 ERR_ADDRESS_MALFORMED', async () => {
    expect(await refused('/api/by-address/0x12')).toMatchObject({ status: 400, error: 'ERR_ADDRESS_MALFORMED' })
  })

  test('if neither case applies, status 404', async () => {
    const path = `/api/by-address/${addressOf('unknown')}`
    expect(await refused(path)).toMatchObject({ status: 404, error: 'ERR_NOT_FOUND' })
  })

  test('case 1, a verified agent: kind = agent, fid, handle, display_name and claimed', async () => {
    expect(addressSubjectAnswer.parse(await ok(`/api/by-address/${ada}`, 30))).toEqual({
      kind: 'agent',
      fid: 1,
      handle: 'ada',
      display_name: null,
      claimed: true,
    })
  })

  test('case 2, an address with no social-network link yet: kind = address-only, address and registrations', async () => {
    expect(addressSubjectAnswer.parse(await ok(`/api/by-address/${addressOf('nobody')}`, 30))).toEqual({
      kind: 'address-only',
      address: addressOf('nobody'),
      registrations: [{ chain: 'polygon', erc8004_id: 3, block_number: 77, deployed_at: '2026-03-01T00:00:00.000Z' }],
      registrations_total: 1,
      next_cursor: null,
    })
  })
})

test('GET /api/leaderboard: top recipients ranked by settlement count over a rolling window', async () => {
  const body = leaderboardAnswer.parse(await ok('/api/leaderboard?period=7d', 60))
  expect(body.agents).toMatchObject([{ rank: 1, fid: 1, settlement_count: 6, unique_payers: 6, volume_usdc: 9 }])
})

test('GET /api/stats: total agents, claimed, cross-chain, addresses indexed and ERC-8004 supply per chain', async () => {
  expect(stats.parse(await ok('/api/stats', 60))).toMatchObject({
    total_agents: 4,
    claimed_count: 2,
    cross_chain_count: 1,
    addresses_indexed: 2,
    erc8004_supply: { base: 1, celo: 1, polygon: 1, ethereum: 0 },
  })
})

test('GET /data/agents.json: every claimed agent as one JSON document with count and generated_at', async () => {
  const body = bulkDocument.parse(await ok('/data/agents.json', 300))
  expect([body.count, body.agents.map((agent) => agent.fid)]).toEqual([2, [1, 4]])
  expect(Date.parse(body.generated_at)).toBeLessThanOrEqual(Date.now())
})

describe('Errors', () => {
  test('every error is a JSON object with error, and detail on most validation errors', async () => {
    for (const path of ['/api/agent/x', '/api/by-address/x', '/api/agent/99', '/nowhere']) {
      expect(await refused(path)).toEqual({
        status: expect.any(Number),
        error: expect.any(String),
        detail: expect.any(String),
      })
    }
  })

  test('ERR_NOT_FOUND, 404: a generic path does not exist', async () => {
    expect(await refused('/api/nowhere')).toMatchObject({ status: 404, error: 'ERR_NOT_FOUND' })
  })

  test('ERR_INTERNAL, 500: database failure; no detail is returned', async () => {
    const broken = await startApi(database, { database: { query: () => Promise.reject(new Error('secret')) } as never })
    expect(await failure(await broken.get('/api/agent/1'))).toEqual({ status: 500, error: 'ERR_INTERNAL' })
    await broken.stop()
  })
})
