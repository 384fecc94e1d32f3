import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { allSettlementsList } from '../../../api/schemas/settlements/settlement.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { failure, startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { addressOf, hashOf, seedAgent, seedChainState, seedSettlement } from '../../support/seed.ts'

const database = testDatabase()
let api: TestApi
const day = 86_400_000
const base = Date.UTC(2026, 2, 1)
let now = base + 5 * day
const chains = ['base', 'celo', 'polygon'] as const
const recipients = ['a1', 'a2', 'b1', 'stranger'].map(addressOf)
const payers = ['p0', 'p1', 'p2'].map(addressOf)
const facilitators = ['f0', 'f1'].map(addressOf)

/** Blocks of all chains at the same times, several at one time, and a transaction with two settlements. */
const rows = Array.from({ length: 240 }, (_, n) => {
  const block = 10 + Math.floor(n / 3)
  const chain = chains[n % 3] as (typeof chains)[number]
  return {
    key: `${chain} ${block} ${n % 2}`,
    chain,
    block,
    logIndex: n % 2,
    at: base + Math.floor(block / 2) * 3_600_000,
    recipient: recipients[(n * 7) % 4] as string,
    payer: payers[(n * 5) % 3] as string,
    facilitator: facilitators[Math.floor(n / 5) % 2] as string,
    amount: BigInt((n * 13) % 50) * 10_000n,
    selector: n % 11 === 0 ? '0xcf092995' : '0xe3ee160e',
  }
})
const listed = rows.filter(({ selector }) => selector === '0xe3ee160e')

beforeAll(async () => {
  api = await startApi(database, { now: () => now })
  const { pool } = database
  await seedAgent(pool, { fid: 1, addresses: recipients.slice(0, 2) })
  await seedAgent(pool, { fid: 2, addresses: recipients.slice(2, 3) })
  for (const chain of chains) await seedChainState(pool, { chain, indexed: 100, finalized: chain === 'celo' ? 90 : 60 })
  for (const { at, ...row } of rows) await seedSettlement(pool, { ...row, at: new Date(at) })
  while ((await rollUpSettlements({ pool })) > 0);
})
afterAll(() => api.stop())

type Row = (typeof rows)[number]
const newestFirst = (some: readonly Row[]) =>
  [...some]
    .sort(
      (a, b) =>
        b.at - a.at || (a.chain < b.chain ? 1 : a.chain > b.chain ? -1 : b.block - a.block || b.logIndex - a.logIndex),
    )
    .map(({ key }) => key)

async function page(query: string) {
  const response = await api.get(`/api/settlements?${query}`)
  expect([query, response.status]).toEqual([query, 200])
  const body = allSettlementsList.parse(await response.json())
  const keys = body.settlements.map((row) => `${row.chain} ${row.block_number} ${row.log_index}`)
  return { body, keys, link: response.headers.get('link') }
}

async function walk(query: string, between: () => Promise<unknown> = async () => {}) {
  const keys: string[] = []
  const sizes: number[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body, keys: more } = await page(`${query}&cursor=${cursor}`)
    keys.push(...more)
    sizes.push(more.length)
    cursor = body.next_cursor
    await between()
  }
  return { keys, sizes }
}

const one = <T>(...values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: undefined, freq: 1 })

test('filters combine over everybody, in either order, whatever leads to the rows', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        fid: one(1, 2, 9),
        recipient: one(...recipients),
        payer: one(...payers, addressOf('nobody')),
        facilitator: one(...facilitators),
        tx: one(...rows.slice(0, 9)),
        chain: fc.option(fc.subarray([...chains], { minLength: 1 }), { nil: undefined }),
        since: fc.option(fc.integer({ min: 0, max: 45 }), { nil: undefined }),
        until: fc.option(fc.integer({ min: 0, max: 45 }), { nil: undefined }),
        least: fc.option(fc.nat(50), { nil: undefined }),
        order: fc.constantFrom('asc', 'desc'),
        limit: fc.constantFrom(7, 40),
      }),
      async ({ fid, recipient, payer, facilitator, tx, chain, since, until, least, order, limit }) => {
        const time = (hours: number) => base + hours * 3_600_000
        const narrow = [fid, recipient, payer, facilitator, tx].some((value) => value !== undefined)
        const from = since ?? (narrow ? undefined : 0)
        const query = new URLSearchParams({ order, limit: String(limit) })
        const given = {
          fid,
          recipient,
          payer,
          facilitator,
          tx_hash: tx && hashOf(`tx ${tx.chain} ${tx.block}`),
          since: from === undefined ? undefined : new Date(time(from)).toISOString(),
          until: until === undefined ? undefined : new Date(time(until)).toISOString(),
          min_amount: least === undefined ? undefined : (least / 100).toFixed(2),
        }
        for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, String(value))
        for (const name of chain ?? []) query.append('chain', name)
        const owned = fid === 1 ? recipients.slice(0, 2) : fid === 2 ? recipients.slice(2, 3) : []
        const expected = listed.filter(
          (row) =>
            (fid === undefined || owned.includes(row.recipient)) &&
            (recipient === undefined || row.recipient === recipient) &&
            (payer === undefined || row.payer === payer) &&
            (facilitator === undefined || row.facilitator === facilitator) &&
            (tx === undefined || (row.chain === tx.chain && row.block === tx.block)) &&
            (chain === undefined || chain.includes(row.chain)) &&
            (from === undefined || row.at >= time(from)) &&
            (until === undefined || row.at < time(until)) &&
            (least === undefined || row.amount >= BigInt(least) * 10_000n),
        )
        const keys = newestFirst(expected)
        expect((await walk(String(query))).keys).toEqual(order === 'desc' ? keys : keys.toReversed())
      },
    ),
    { numRuns: 60 },
  )
})

test('everybody’s settlements want something narrow, or the last 31 days', async () => {
  for (const query of ['', 'chain=Base', 'min_amount=1', `since=${new Date(now - 32 * day).toISOString()}`]) {
    const refused = await failure(await api.get(`/api/settlements?${query}`))
    expect([query, refused]).toMatchObject([
      query,
      { status: 400, error: 'ERR_PAYLOAD_INVALID', fields: [{ path: 'since' }] },
    ])
  }
  const recent = await page(`since=${new Date(now - 31 * day).toISOString()}&limit=100`)
  expect(recent.keys).toEqual(newestFirst(listed).slice(0, 100))
})

test('a walk of the last 31 days goes on when its first settlements are older than that', async () => {
  const start = now
  const query = `since=${new Date(now - 31 * day).toISOString()}&limit=100`
  const { keys } = await walk(query, async () => {
    now += 1_000
  })
  expect(keys).toEqual(newestFirst(listed))
  now += 10_000
  expect((await failure(await api.get(`/api/settlements?${query}&cursor=`))).status).toBe(400)
  now = start
})

test.each([
  'fid=ada',
  'payer=0x12',
  'recipient=me',
  'tx_hash=0x1',
  'since=today',
  'since=2026-02-30T00:00:00Z',
  'since=2026-02-31',
  'fid=1&until=2026-04-31T00:00:00Z',
  'facilitator=f0&chain=solana',
])('a filter that cannot be read matches nothing: %s', async (query) => {
  expect((await page(query)).body).toEqual({ count: 0, settlements: [], next_cursor: null })
})

test('24:00 is the midnight that ends a day', async () => {
  const rowsOf = async (since: string) => (await page(`since=${since}&limit=100`)).keys
  expect(await rowsOf('2026-03-01T24:00:00Z')).toEqual(await rowsOf('2026-03-02T00:00:00Z'))
  expect(await rowsOf('2026-02-28T24:00:00Z')).toEqual(newestFirst(listed).slice(0, 100))
})

test('what stood throughout a walk is met once, whatever comes and goes between its pages', async () => {
  const { pool } = database
  let n = 200
  const between = async () => {
    n++
    now += 10_000
    await pool.query(`delete from settlement where block_number >= 200 and block_number % 3 = 0`)
    const at = new Date(base + (n - 150) * 3_600_000)
    await seedSettlement(pool, { chain: 'base', recipient: recipients[3] as string, block: n, at })
  }
  const { keys } = await walk(`since=${new Date(base).toISOString()}&limit=9`, between)
  expect(keys.filter((key) => Number(key.split(' ')[1]) < 200)).toEqual(newestFirst(listed))
  await pool.query('delete from settlement where block_number >= 200')
  now += 10_000
})

test('a page looks at ten thousand settlements of a chain at most, and a walk still meets all', async () => {
  const { pool } = database
  await pool.query(
    `insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token,
                             payer, recipient, facilitator, payment_nonce, tx_hash)
     select case when n % 9000 = 0 then 77000000 else 1 end, $1::timestamptz + n * interval '1 second', 1000 + n, 0, 'celo',
            'c', '\\xe3ee160e', '\\x00', $2, $2, $2, sha256(int4send(n)), sha256(int4send(n))
       from generate_series(1, 25000) n`,
    [new Date(base + 3 * day), Buffer.from(addressOf('busy').slice(2), 'hex')],
  )
  const since = new Date(base + 3 * day).toISOString()
  for (const query of [`since=${since}`, `payer=${addressOf('busy')}`, `facilitator=${addressOf('busy')}`]) {
    for (const order of ['asc', 'desc']) {
      const { keys, sizes } = await walk(`${query}&min_amount=77&order=${order}`)
      expect(keys.sort()).toEqual(['celo 10000 0', 'celo 19000 0'])
      expect(sizes.length).toBe(3) // two pages that end at the limit of rows examined, and the rest
    }
  }
})
