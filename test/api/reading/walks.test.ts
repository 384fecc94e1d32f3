import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { maxBlock } from '../../../db/block-range.ts'
import { deleteNewestSettlements } from '../../../db/queries/chain/reset.ts'
import { runIncome } from '../../derive/passes.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { rounds } from '../../support/rounds.ts'
import {
  addressOf,
  birth,
  dropAgents,
  insert,
  seedAgent,
  seedChainState,
  seedHolding,
  seedRegistration,
  seedSettlement,
} from '../../support/seed.ts'

// Pagination while rows are inserted, deleted or undone between pages: a row that stays throughout is met, none is met
// twice, and the order is the list's.

const database = testDatabase()
let api: TestApi
/** The API's clock, moved before each page so that no answer comes from its cache. */
let now = Date.now()
const mine = addressOf('mine')
const count = 40
const valuedToken = 900
const firstListed = 100

beforeAll(async () => {
  api = await startApi(database, { now: () => now })
  const { pool } = database
  await seedAgent(pool, { fid: 1, addresses: [mine], listedAt: new Date(birth.getTime() - 1) })
  for (const chain of ['base', 'celo'] as const) {
    await seedChainState(pool, { chain, indexed: 1_000, finalized: count / 2 })
    for (let n = 1; n <= count; n++) await seedRegistration(pool, { chain, id: n, owner: mine })
  }
  const valued = addressOf('valued')
  await seedAgent(pool, { fid: 2, addresses: [valued], listedAt: new Date(birth.getTime() - 1) })
  for (const chain of ['base', 'celo'] as const) {
    await seedRegistration(pool, { chain, id: valuedToken, owner: valued })
    await seedHolding(pool, { fid: 2, chain, id: valuedToken, by: valued })
  }
  await insert(pool, 'agent_change', { fid: 1, kind: 'upsert', changed_at: birth })
  while ((await runIncome({ pool })) > 0);
})
afterAll(() => api.stop())

const chainOfRow = (n: number) => (n % 3 ? 'base' : 'celo')
/** Time of row n; up to four rows share one. */
const timeOf = (n: number) => new Date(birth.getTime() + Math.floor(n / 4) * 1_500_000)
const isHistorical = true

/** How the rows of a list are written, by number n; `key`: the field of an answered row that n is read from. */
interface Rows {
  readonly put: (n: number) => Promise<unknown>
  readonly drop: (n: number) => Promise<unknown>
  /** Deletes the rows of a chain above a block; row n is in block n. Undefined: rows are not undone by block. */
  readonly undo?: (chain: 'base' | 'celo', block: number) => Promise<unknown>
  readonly key: string
  /** Value of `key` at n = 0; rows up to it are not of this test. Undefined: 0. */
  readonly before?: number
}

const settlements: Rows = {
  put: (n) => seedSettlement(database.pool, { chain: chainOfRow(n), recipient: mine, block: n, at: timeOf(n) }),
  drop: (n) => database.pool.query('delete from settlement where block_number = $1', [n]),
  undo: (chain, block) =>
    deleteNewestSettlements(database.pool, chain, { fromBlock: block + 1, toBlock: maxBlock }, 1_000_000),
  key: 'block_number',
}
const agents: Rows = {
  put: (n) => seedAgent(database.pool, { fid: firstListed + n, listedAt: timeOf(n) }),
  drop: (n) => dropAgents(database.pool, 'fid = $1', [firstListed + n]),
  key: 'fid',
  before: firstListed,
}
const holdings = (past = false): Rows => ({
  put: (n) =>
    seedHolding(database.pool, {
      fid: 1,
      chain: chainOfRow(n),
      id: n,
      by: mine,
      unsolicited: n % 5 === 0,
      ...(past && { released: { reason: 'transfer', block: 1_000 + n, at: timeOf(n) } }),
    }),
  drop: (n) => database.pool.query('delete from agent_holding where agent_id = $1', [n]),
  key: 'erc8004_id',
})
const feedback: Rows = {
  async put(n) {
    await insert(database.pool, 'feedback', {
      id: `${chainOfRow(n)}-${n}`,
      chain: chainOfRow(n),
      agent_id: valuedToken,
      client: Buffer.alloc(20, n),
      feedback_index: n,
      value: '5',
      value_decimals: 0,
      tag1: '',
      tag2: '',
      endpoint: '',
      feedback_uri: '',
      feedback_hash: Buffer.alloc(32),
      block_number: n,
      log_index: 0,
      block_timestamp: timeOf(n),
      tx_hash: Buffer.alloc(32, 1),
    })
  },
  drop: (n) => database.pool.query('delete from feedback where block_number = $1', [n]),
  undo: (chain, block) =>
    database.pool.query('delete from feedback where chain = $1 and block_number > $2', [chain, block]),
  key: 'block_number',
}

type Step = { readonly kind: 'put' | 'drop' | 'undo'; readonly n: number }
const numbers = fc.integer({ min: 1, max: count })
const histories = fc.record({
  present: fc.uniqueArray(numbers, { minLength: 5, maxLength: count }),
  limit: fc.integer({ min: 1, max: 8 }),
  /** Steps after each page. */
  between: fc.array(
    fc.array(fc.record({ kind: fc.constantFrom<Step['kind'][]>('put', 'put', 'drop', 'undo'), n: numbers }), {
      maxLength: 6,
    }),
    { minLength: 1, maxLength: 12 },
  ),
})

test.for<[path: string, rows: Rows]>([
  ['/api/agent/1/settlements?order=desc', settlements],
  ['/api/agent/1/settlements?order=asc', settlements],
  [`/api/settlements?recipient=${mine}&order=desc`, settlements],
  ['/api/settlements?fid=1&order=asc', settlements],
  ['/api/agent/1/income/payments?order=desc', settlements],
  ['/api/agent/1/income/payments?order=asc', settlements],
  ['/api/discovery?sort=newest', agents],
  ['/api/discovery?sort=oldest', agents],
  ['/api/agent/1/registrations?state=current', holdings()],
  ['/api/agent/1/registrations?state=historical', holdings(isHistorical)],
  ['/api/agent/2/feedback?', feedback],
])('a walk over %s loses nothing', async ([path, rows]) => {
  const present = new Set<number>()
  const put = async (n: number) => {
    if (!present.has(n)) await rows.put(n)
    present.add(n)
  }
  const drop = async (n: number) => {
    if (present.delete(n)) await rows.drop(n)
  }
  const undo = async (n: number) => {
    if (!rows.undo) return drop(n)
    await rows.undo(chainOfRow(n), n - 1)
    for (const other of present) if (other >= n && chainOfRow(other) === chainOfRow(n)) present.delete(other)
  }
  const walk = async (limit: number, after: (page: number) => Promise<void>) => {
    const met: number[] = []
    let cursor: string | null = ''
    for (let page = 0; cursor !== null; page++) {
      now += 10_000
      const response = await api.get(`${path}&limit=${limit}&cursor=${cursor}`)
      const body = (await response.json()) as Record<string, unknown> & { next_cursor: string | null }
      const list = Object.values(body).find(Array.isArray) as Record<string, number>[]
      met.push(...list.map((row) => Number(row[rows.key]) - (rows.before ?? 0)).filter((n) => n > 0))
      cursor = body.next_cursor
      await after(page)
    }
    return met
  }

  for (let n = 1; n <= count; n++) await put(n)
  const order = await walk(count, async () => {})
  expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, n) => n + 1))
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      for (const n of order) await (history.present.includes(n) ? put(n) : drop(n))
      const stood = new Set(present)
      const ever = new Set(present)
      const met = await walk(history.limit, async (page) => {
        for (const { kind, n } of history.between[page] ?? []) {
          await { put, drop, undo }[kind](n)
          for (const one of stood) if (!present.has(one)) stood.delete(one)
          for (const one of present) ever.add(one)
        }
      })
      expect(met).toEqual(order.filter((n) => met.includes(n)))
      expect([...stood].filter((n) => !met.includes(n))).toEqual([])
      expect(met.filter((n) => !ever.has(n))).toEqual([])
    }),
    { numRuns: rounds(12, 25) },
  )
  for (const n of order) await drop(n)
})
