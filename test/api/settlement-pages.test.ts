import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { settlementList } from '../../api/schemas/settlements/settlement.ts'
import { allSettlements } from '../../db/queries/settlements/all-settlements.ts'
import { settlementPage } from '../../db/queries/settlements/settlements.ts'
import { rollUpSettlements } from '../../enrichment/periodic/rollup.ts'
import { failure, startApi, type TestApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, seedAgent, seedChainState, seedSettlement } from '../support/seed.ts'

interface Paging {
  readonly order: 'asc' | 'desc'
  readonly after: string[] | undefined
  readonly mostExamined: number
}

const database = testDatabase()
let api: TestApi
let now = Date.now()
const mine = [addressOf('mine'), addressOf('old')]
const rows: { key: string; at: number; payer: string; amount: bigint; chain: 'base' | 'celo' }[] = []
const base = Date.UTC(2026, 2, 1)

beforeAll(async () => {
  api = await startApi(database, { now: () => now })
  const { pool } = database
  await seedAgent(pool, { fid: 1, addresses: mine })
  await seedAgent(pool, { fid: 2, addresses: [addressOf('unpaid')] })
  await seedChainState(pool, { chain: 'base', indexed: 400, finalized: 250 })
  await seedChainState(pool, { chain: 'celo', indexed: 400, finalized: 380 })
  for (let n = 1; n <= 300; n++) {
    const chain = n % 3 ? 'base' : 'celo'
    // Several at one time, hours without any, and overloads between.
    const at = base + Math.floor(n / 4) * 1_500_000
    const payer = addressOf(`payer ${n % 5}`)
    const amount = BigInt(n) * 10_000n
    const selector = n % 7 === 0 ? '0xcf092995' : '0xe3ee160e'
    await seedSettlement(pool, {
      chain,
      recipient: mine[n % 2] as string,
      block: n,
      logIndex: 1,
      at: new Date(at),
      payer,
      amount,
      selector,
    })
    if (selector === '0xe3ee160e') rows.push({ key: `${chain} ${n}`, at, payer, amount, chain })
  }
  while ((await rollUpSettlements({ pool })) > 0);
})
afterAll(() => api.stop())

const descending = () =>
  [...rows].sort(
    (a, b) =>
      b.at - a.at ||
      (a.chain < b.chain ? 1 : a.chain > b.chain ? -1 : Number(b.key.split(' ')[1]) - Number(a.key.split(' ')[1])),
  )

async function page(query: string) {
  const response = await api.get(`/api/agent/1/settlements?${query}`)
  expect([query, response.status]).toEqual([query, 200])
  const body = settlementList.parse(await response.json())
  return {
    body,
    keys: body.settlements.map((row) => `${row.chain} ${row.block_number}`),
    link: response.headers.get('link'),
  }
}

async function walk(query: string, between: () => Promise<unknown> = async () => {}) {
  const keys: string[] = []
  for (let cursor: string | null | undefined = ''; cursor !== null && cursor !== undefined; ) {
    const { body, keys: more } = await page(`${query}&cursor=${cursor}`)
    keys.push(...more)
    cursor = body.next_cursor
    await between()
  }
  return keys
}

test('the first page without new parameters is the newest, as ever, without a cursor', async () => {
  const { body, keys, link } = await page('limit=50')
  expect(keys).toEqual(
    descending()
      .slice(0, 50)
      .map(({ key }) => key),
  )
  expect([Object.keys(body), link]).toEqual([['fid', 'count', 'settlements'], null])
})

test('a walk meets every settlement once, in either order, at any page size', async () => {
  const expected = descending().map(({ key }) => key)
  for (const limit of [1, 7, 100]) {
    expect(await walk(`limit=${limit}`)).toEqual(expected)
    expect(await walk(`limit=${limit}&order=asc`)).toEqual(expected.toReversed())
  }
})

test('filters combine, times half open and amounts exact', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        since: fc.option(fc.nat(80), { nil: undefined }),
        until: fc.option(fc.nat(80), { nil: undefined }),
        payer: fc.option(fc.nat(5), { nil: undefined }),
        least: fc.option(fc.nat(300), { nil: undefined }),
        most: fc.option(fc.nat(300), { nil: undefined }),
        chain: fc.option(fc.constantFrom('base' as const, 'celo' as const), { nil: undefined }),
      }),
      async ({ since, until, payer, least, most, chain }) => {
        const time = (n: number) => new Date(base + n * 1_500_000).toISOString()
        const query = new URLSearchParams({ limit: '17' })
        if (since !== undefined) query.set('since', time(since))
        if (until !== undefined) query.set('until', time(until))
        if (payer !== undefined) query.set('payer', addressOf(`payer ${payer}`).toUpperCase().replace('0X', '0x'))
        if (least !== undefined) query.set('min_amount', (least / 100).toFixed(2))
        if (most !== undefined) query.set('max_amount', (most / 100).toFixed(2))
        if (chain !== undefined) query.set('chain', chain)
        const expected = descending().filter(
          (row) =>
            (since === undefined || row.at >= base + since * 1_500_000) &&
            (until === undefined || row.at < base + until * 1_500_000) &&
            (payer === undefined || row.payer === addressOf(`payer ${payer}`)) &&
            (least === undefined || row.amount >= BigInt(least) * 10_000n) &&
            (most === undefined || row.amount <= BigInt(most) * 10_000n) &&
            (chain === undefined || row.chain === chain),
        )
        expect(await walk(String(query))).toEqual(expected.map(({ key }) => key))
      },
    ),
    { numRuns: 40 },
  )
})

test('a search that may find little ends early, says where to go on, and finds everything all the same', async () => {
  const filter = { chain: null, facilitator: null, selector: null, since: null, until: null, final: null }
  const payer = addressOf('payer 1')
  const asked = { ...filter, payer, min_amount: null, max_amount: '2000000' }
  const matching = descending().filter((row) => row.payer === payer && row.amount <= 2_000_000n)
  const ofAgent = { limit: 7, settlementOverloads: 'spec' as const, filter: asked }
  const lists = [
    (page: Paging) => settlementPage(database.pool, { ...ofAgent, fid: 1, ...page }),
    ...[
      { fid: '1', recipient: null },
      { fid: '1', recipient: mine[1] as string },
      { fid: null, recipient: mine[1] as string },
    ].map(
      (whose) => (page: Paging) =>
        allSettlements(database.pool, { ...ofAgent, filter: { ...asked, ...whose, tx_hash: null }, ...page }),
    ),
  ]
  for (const [index, list] of lists.entries()) {
    const expected = matching.map(({ key }) => key).filter((key) => index < 2 || Number(key.split(' ')[1]) % 2 === 1)
    for (const order of ['desc', 'asc'] as const) {
      for (const mostExamined of order === 'desc' ? [1, 40, 10_000] : [40]) {
        const keys: string[] = []
        let pages = 0
        for (let after: string[] | null | undefined; after !== null; pages++) {
          const found: { rows: string; next: string[] | null } | undefined = await list({ order, after, mostExamined })
          const rows = JSON.parse(found?.rows ?? '[]') as { chain: string; block_number: number }[]
          keys.push(...rows.map((row) => `${row.chain} ${row.block_number}`))
          after = found?.next ?? null
        }
        expect({ index, order, mostExamined, keys }).toEqual({
          index,
          order,
          mostExamined,
          keys: order === 'desc' ? expected : expected.toReversed(),
        })
        // With 1 examined a page ends after an hour; with 10,000 only at its limit of 7 rows.
        if (mostExamined === 1) expect(pages).toBeGreaterThan(20)
        else if (mostExamined === 10_000) expect(pages).toBe(Math.ceil(expected.length / 7))
      }
    }
  }
  const cut = await settlementPage(database.pool, {
    ...ofAgent,
    fid: 1,
    order: 'desc',
    after: undefined,
    mostExamined: 1,
  })
  expect(cut).toMatchObject({ isCut: true })
})

test('final ones are told from those that may be undone', async () => {
  const final = await walk('limit=100&final=true')
  const hot = await walk('limit=100&final=false')
  expect(hot.length).toBeGreaterThan(0)
  expect([...final, ...hot].sort()).toEqual(
    descending()
      .map(({ key }) => key)
      .sort(),
  )
  expect(hot.every((key) => Number(key.split(' ')[1]) > (key.startsWith('base') ? 250 : 380))).toBe(true)
})

test.each([
  'payer=0x12',
  'payer=ada',
  'facilitator=0x',
  'selector=0xe3ee',
  'min_amount=1e3',
  'max_amount=-1',
  'min_amount=0.1234567',
  'since=yesterday',
  'since=2026-03-01',
  'until=2026-03-01T00:00:00',
  'final=1',
  'chain=solana',
])('a filter that cannot be read matches nothing: %s', async (query) => {
  expect((await page(query)).body.settlements).toEqual([])
  expect((await page(`${query}&cursor=`)).body).toMatchObject({ count: 0, next_cursor: null })
})

test('what stood throughout a walk is met once, whatever comes and goes between its pages', async () => {
  const { pool } = database
  let n = 1_000
  const between = async () => {
    n++
    now += 10_000
    await pool.query(`delete from settlement where chain = 'base' and block_number >= 1000 and block_number % 3 = 0`)
    await seedSettlement(pool, {
      chain: 'base',
      recipient: mine[0] as string,
      block: n,
      at: new Date(base + n * 1_500_000),
    })
  }
  const met = await walk('limit=11', between)
  const stood = met.filter((key) => Number(key.split(' ')[1]) < 1_000)
  expect(stood).toEqual(descending().map(({ key }) => key))
  await pool.query('delete from settlement where block_number >= 1000')
  now += 10_000
})

test('the header leads on with everything that was asked, and a cursor is good for its own filters alone', async () => {
  const query = `limit=5&payer=${addressOf('payer 1')}&min_amount=0.5&since=2026-03-01T02:00:00%2B01:00&cursor=`
  const { body, link } = await page(query)
  const target = /^<https:\/\/api\.agents\.example(\/api\/agent\/1\/settlements\?[^>]+)>; rel="next"$/.exec(
    link as string,
  )
  const next = settlementList.parse(await (await api.get(target?.[1] as string)).json())
  expect(next).toEqual((await page(query + body.next_cursor)).body)
  const other = `/api/agent/1/settlements?limit=5&cursor=${body.next_cursor}`
  expect(await failure(await api.get(other))).toMatchObject({ status: 404, error: 'ERR_NOT_FOUND' })
  expect((await api.get('/api/agent/9/settlements?cursor=')).status).toBe(404)
})
