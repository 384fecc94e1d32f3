import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { profile } from '../../api/schemas/agents/profile.ts'
import { feedbackList } from '../../api/schemas/feedback/feedback.ts'
import type { ChainName } from '../../config/chains.ts'
import { profileLimits } from '../../config/limits.ts'
import { agentProfile } from '../../db/queries/agents/profile.ts'
import { markDue } from '../../db/queries/due/queue.ts'
import { refreshFeedback } from '../../db/queries/feedback/feedback-counts.ts'
import { agentFeedback, everyFeedback } from '../../db/queries/feedback/page.ts'
import { rollUpSettlements } from '../../enrichment/periodic/rollup.ts'
import { runIncome } from '../derive/passes.ts'
import { failure, startApi, type TestApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import { rowsRead } from '../support/rows-read.ts'
import {
  addressOf,
  birth,
  insert,
  seedAgent,
  seedChainState,
  seedHolding,
  seedRegistration,
  seedSettlement,
  seedVerification,
} from '../support/seed.ts'

const database = testDatabase()
let api: TestApi
/** The API's clock, a minute later at each look, so that no answer comes from its cache. */
let ms = Date.now()
const bytes = (address: string) => Buffer.from(address.slice(2), 'hex')
const minute = (n: number) => new Date(birth.getTime() + n * 60_000)
const own = addressOf('own')
const second = addressOf('second')
const bob = addressOf('bob')
const eve = addressOf('eve')
const stranger = addressOf('stranger')

beforeAll(async () => {
  api = await startApi(database, { now: () => (ms += 60_000) })
  const { pool } = database
  // Agents 1 and 2; fids 3 and 4 are none. Agent 1 holds a registration on each of two chains and once held another.
  await seedAgent(pool, { fid: 1, addresses: [own, second], chains: ['base', 'celo'], claimMethod: 'jfs' })
  await seedAgent(pool, { fid: 2, addresses: [bob], chains: ['base'] })
  await seedVerification(pool, { fid: 3, address: eve })
  await seedVerification(pool, { fid: 4, address: stranger, endedAt: minute(1) })
  for (const chain of ['base', 'celo'] as const) {
    await seedRegistration(pool, { chain, id: 7, owner: own })
    await seedHolding(pool, { fid: 1, chain, id: 7, by: own, block: 0 })
  }
  const released = { reason: 'transfer', block: 2, at: minute(1) } as const
  await seedRegistration(pool, { chain: 'base', id: 8, owner: bob })
  await seedHolding(pool, { fid: 1, chain: 'base', id: 8, by: own, block: 0, released })
  // Bob pays at minute 10. What eve pays then does not count, as it is nothing: she pays after all the
  // feedback is given. The agent pays itself.
  const to = { chain: 'base', recipient: second, at: minute(10) } as const
  await seedSettlement(pool, { ...to, block: 10, payer: bob })
  await seedSettlement(pool, { ...to, block: 10, logIndex: 1, payer: eve, amount: 0n })
  await seedSettlement(pool, { ...to, block: 10, logIndex: 2, payer: stranger, selector: '0x88b7ab63' })
  await seedSettlement(pool, { ...to, block: 10, logIndex: 3, payer: own })
  await seedSettlement(pool, { ...to, block: 11, at: minute(100), payer: eve })
  await seedChainState(pool, { chain: 'base', indexed: 100, finalized: 100 })
  while ((await rollUpSettlements({ pool })) > 0);
  await markDue(pool, 'income', ['1', '2'])
  while ((await runIncome({ pool })) > 0);
})
beforeEach(() => database.pool.query('truncate feedback, feedback_response'))
afterAll(() => api.stop())

interface Given {
  client: string
  at: number
  chain?: ChainName
  id?: number
  value?: string
  decimals?: number
  tag?: string
  uri?: string
  revoked?: boolean
  log?: number
}
async function give({ client, at, chain = 'base', id = 7, value = '5', decimals = 0, tag = '', ...rest }: Given) {
  const { uri = '', revoked = false, log = 0 } = rest
  await insert(database.pool, 'feedback', {
    id: `${chain}-${id}-${at}-${log}`,
    chain,
    agent_id: id,
    client: bytes(client),
    feedback_index: at,
    value,
    value_decimals: decimals,
    tag1: tag,
    tag2: '',
    endpoint: uri,
    feedback_uri: uri,
    feedback_hash: Buffer.alloc(32),
    block_number: at,
    log_index: log,
    block_timestamp: minute(at),
    tx_hash: Buffer.alloc(32, 1),
    revoked_block: revoked ? at + 1 : null,
    revoked_at: revoked ? minute(at + 1) : null,
  })
}

const summary = async () => profile.parse(await (await api.get('/api/agent/1')).json()).feedback
const read = async (query = '') => {
  const response = await api.get(`/api/agent/1/feedback${query}`)
  expect(response.status).toBe(200)
  return feedbackList.parse(await response.json())
}
async function walk(query: string) {
  const rows = []
  const pages = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await read(`?cursor=${cursor}&${query}`)
    expect(page.count).toBe(page.feedback.length)
    rows.push(...page.feedback)
    pages.push(page.count)
    cursor = page.next_cursor
  }
  return { rows, pages }
}

test('feedback on a registration that a stranger sent is not the agent’s, until it sets something', async () => {
  const { pool } = database
  await give({ client: eve, at: 15 })
  await seedRegistration(pool, { chain: 'base', id: 9, owner: own })
  await seedHolding(pool, { fid: 1, chain: 'base', id: 9, by: own, block: 0, unsolicited: true })
  await give({ client: bob, at: 16, id: 9, tag: 'scam', value: '-100' })
  const inSql = async () => (await pool.query('select from directory.agent_feedback where fid = 1')).rowCount
  expect(await summary()).toMatchObject({ total: 1, by_agents: 0, tags: [] })
  expect([(await read()).count, await inSql()]).toEqual([1, 1])
  await pool.query('update agent_holding set unsolicited = false where agent_id = 9')
  expect(await summary()).toMatchObject({ total: 2, by_agents: 1 })
  expect([(await read()).count, await inSql()]).toEqual([2, 2])
  await pool.query('delete from agent_holding where agent_id = 9')
  await pool.query('delete from registration where agent_id = 9')
  await pool.query('update agent set current_total = current_total - 1 where fid = 1')
})

test('a profile tells feedback of agents, accounts, strangers and its own apart, and who had paid before', async () => {
  await give({ client: bob, at: 5, tag: 'quality', value: '80' }) // before he paid
  await give({ client: bob, at: 15, tag: 'quality', value: '-9995', decimals: 2, chain: 'celo' })
  await give({ client: eve, at: 16, tag: 'speed' })
  await give({ client: own, at: 17, tag: 'quality' })
  await give({ client: stranger, at: 18, tag: 'quality', value: '170141183460469231731687303715884105727' })
  await give({ client: addressOf('other'), at: 19 })
  await give({ client: bob, at: 20, tag: 'speed', revoked: true })
  await give({ client: bob, at: 21, id: 8 }) // on a registration that the agent no longer holds
  const ofAll = { count_grounded: 2, count_unflagged: 6, before_holder: 0 }
  const ofQuality = { unit: null, count_grounded: 2, median_grounded: -99.95, count_unflagged: 4, median_unflagged: 5 }
  const ofSpeed = { unit: null, count_grounded: 0, median_grounded: null, count_unflagged: 1, median_unflagged: 5 }
  expect(await summary()).toEqual({
    total: 6,
    revoked: 1,
    clients: 5,
    accounts: 2,
    by_agents: 2,
    by_accounts: 1,
    by_strangers: 2,
    by_self: 1,
    paid: 2,
    answered: 0,
    grounds: { payment: 2, payment_named: 0, contradicted: 0, file: 0, hash_mismatch: 0, none: 4 },
    ...ofAll,
    flags: { circle: 0, funding_chain: 0, made_together: 0, only_rates: 0, shared_funder: 0 },
    tags: [
      {
        tag: 'quality',
        feedback: 4,
        median: 5,
        feedback_known: 2,
        median_known: -99.95,
        ...ofQuality,
      },
      {
        tag: 'speed',
        feedback: 1,
        median: 5,
        feedback_known: 1,
        median_known: 5,
        ...ofSpeed,
      },
    ],
  })
  expect(
    (await read()).feedback.map(({ client, client_fid, paid, value, revoked_at }) => [
      client,
      client_fid,
      paid,
      value,
      revoked_at !== null,
    ]),
  ).toEqual([
    ['agent', 2, true, 5, true],
    ['stranger', null, false, 5, false],
    ['stranger', null, true, 2 ** 127, false],
    ['self', 1, false, 5, false],
    ['account', 3, false, 5, false],
    ['agent', 2, true, -99.95, false],
    ['agent', 2, false, 80, false],
  ])
})

test('the SQL contract tells the same of it', async () => {
  await give({ client: bob, at: 5, tag: 'quality' })
  for (const [index, client] of [bob, eve, own, stranger].entries())
    await give({ client, at: 15 + index, chain: 'celo' })
  const { feedback } = await read()
  const { rows } = await database.pool.query(`
    select chain, client_address, client, client_fid, feedback_index::int, value::float8, tag1, paid, block_number, log_index
      from directory.agent_feedback
     where fid = 1
     order by block_timestamp desc, chain desc, block_number desc, log_index desc`)
  expect(feedback).toEqual(rows.map((row) => expect.objectContaining(row)))
  expect(feedback).toHaveLength(5)
  const { rows: totals } = await database.pool.query(
    'select chain, standing, revoked from directory.feedback_totals order by chain',
  )
  expect(totals).toEqual([
    { chain: 'base', standing: 1, revoked: 0 },
    { chain: 'celo', standing: 4, revoked: 0 },
  ])
})

async function respond(by: string, to: { client: string; at: number }, log: number) {
  await insert(database.pool, 'feedback_response', {
    id: `base-${log}`,
    chain: 'base',
    agent_id: 7,
    client: bytes(to.client),
    feedback_index: to.at,
    responder: bytes(by),
    response_uri: '',
    response_hash: Buffer.alloc(32),
    block_number: 50,
    log_index: log,
    block_timestamp: minute(50),
    tx_hash: Buffer.alloc(32),
  })
}

test('responses are counted, and those of the agent itself told apart', async () => {
  const first = { client: bob, at: 1 }
  const last = { client: eve, at: 2 }
  await give(first)
  await give(last)
  await give({ client: eve, at: 3, chain: 'celo' })
  await respond(second, first, 0)
  for (let log = 1; log <= 105; log++) await respond(stranger, last, log)
  const rows = (await read()).feedback.map(({ given_at, responses, answered }) => [given_at, responses, answered])
  expect(rows).toEqual([
    [minute(3).toISOString(), 0, false],
    [minute(2).toISOString(), 100, false],
    [minute(1).toISOString(), 1, true],
  ])
  expect((await summary())?.answered).toBe(1)
})

test('no feedback is a summary of zeros and an empty list; an unknown agent, a foreign cursor are not found', async () => {
  expect(await summary()).toMatchObject({ total: 0, revoked: 0, clients: 0, accounts: 0, paid: 0, tags: [] })
  expect(await read()).toEqual({ fid: 1, count: 0, feedback: [], next_cursor: null })
  expect(await failure(await api.get('/api/agent/9/feedback'))).toMatchObject({ status: 404, error: 'ERR_NOT_FOUND' })
  await give({ client: bob, at: 1 })
  await give({ client: bob, at: 2 })
  const { next_cursor } = await read('?limit=1')
  const foreign = await api.get(`/api/agent/1/feedback?limit=1&by=agent&cursor=${next_cursor}`)
  expect(await failure(foreign)).toMatchObject({ status: 404, error: 'ERR_NOT_FOUND' })
})

test('what strangers write is cut to what can be shown', async () => {
  await give({ client: eve, at: 1, tag: '😀'.repeat(60_000), uri: `https://a.example/${'x'.repeat(3_000)}` })
  const [row] = (await read()).feedback
  expect(row).toMatchObject({ tag1: '😀'.repeat(100), endpoint: null, feedback_uri: null })
  expect((await summary())?.tags).toEqual([expect.objectContaining({ tag: '😀'.repeat(100) })])
})

const clients = { [own]: 'self', [bob]: 'agent', [eve]: 'account', [stranger]: 'stranger' }
const given = fc.record({
  client: fc.constantFrom(...Object.keys(clients)),
  at: fc.integer({ min: 1, max: 30 }),
  chain: fc.constantFrom<ChainName>('base', 'celo'),
  revoked: fc.boolean(),
})
const filter = fc.record({
  by: fc.subarray(Object.values(clients)),
  paid: fc.constantFrom('', 'true', 'false'),
  revoked: fc.constantFrom('', 'true', 'false'),
  chain: fc.constantFrom('', 'Base', '42220'),
  limit: fc.integer({ min: 1, max: 6 }),
})

test('pages meet each feedback that a filter matches once, newest first', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(given, { maxLength: 12 }), filter, async (all, { by, paid, revoked, chain, limit }) => {
      await database.pool.query('truncate feedback')
      for (const [log, one] of all.entries()) await give({ ...one, log })
      const { rows } = await walk(
        `limit=${limit}&paid=${paid}&revoked=${revoked}&chain=${chain}${by.map((one) => `&by=${one}`).join('')}`,
      )
      const chainName = new Map([
        ['Base', 'base'],
        ['42220', 'celo'],
      ]).get(chain)
      const expected = [...all.entries()]
        .map(([log, one]) => ({ log, kind: clients[one.client] as string, ...one }))
        .filter((one) => by.length === 0 || by.includes(one.kind))
        .filter((one) => paid === '' || (paid === 'true') === (['agent', 'stranger'].includes(one.kind) && one.at > 10))
        .filter((one) => revoked === '' || (revoked === 'true') === one.revoked)
        .filter((one) => chainName === undefined || one.chain === chainName)
        .sort((a, b) => b.at - a.at || (a.chain < b.chain ? 1 : a.chain > b.chain ? -1 : b.log - a.log))
      expect(rows.map(({ log_index, client }) => [log_index, client])).toEqual(
        expected.map(({ log, kind }) => [log, kind]),
      )
    }),
    { numRuns: 25 },
  )
})

test('the counts of feedback are those of its rows, whatever was written, taken back and undone', async () => {
  const { pool } = database
  const step = fc.oneof(
    fc.record({ do: fc.constant('give' as const), one: given }),
    fc.record({ do: fc.constantFrom('revoke' as const, 'restore' as const, 'undo' as const), one: given }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
      await pool.query('truncate feedback')
      for (const [log, { do: what, one }] of steps.entries()) {
        const where = 'where chain = $1 and client = $2'
        const values = [one.chain, bytes(one.client)]
        if (what === 'give') await give({ ...one, log })
        if (what === 'revoke') await pool.query(`update feedback set revoked_block = 1 ${where}`, values)
        if (what === 'restore') await pool.query(`update feedback set revoked_block = null ${where}`, values)
        if (what === 'undo') await pool.query(`delete from feedback ${where}`, values)
      }
      const { rows } = await pool.query(`
        select from feedback_total t
          full join (select chain, agent_id, count(*) filter (where revoked_block is null) as standing,
                            count(revoked_block) as revoked from feedback group by 1, 2) f using (chain, agent_id)
         where coalesce(t.standing, 0) <> coalesce(f.standing, 0) or coalesce(t.revoked, 0) <> coalesce(f.revoked, 0)`)
      expect(rows).toEqual([])
    }),
    { numRuns: 20 },
  )
})

/** Stores feedback of `count` strangers, newer than all other feedback. */
async function flood(count: number) {
  await database.pool.query(
    `insert into feedback (id, chain, agent_id, client, feedback_index, value, value_decimals, tag1, tag2, endpoint,
                           feedback_uri, feedback_hash, block_number, log_index, block_timestamp, tx_hash)
     select 'flood-' || n, 'base', 7, decode(lpad(to_hex(n), 40, '0'), 'hex'), 1, 100, 0, 'starred', '', '', '', '\\x00',
            1000 + n, 0, $2::timestamptz + n * interval '1 second', '\\x01'
       from generate_series(1, $1) n`,
    [count, minute(1_000)],
  )
}

test('a flood of strangers hides nobody: the filter leads past it in pages, and the job counts what it comes to', async () => {
  const { pool } = database
  await give({ client: bob, at: 15, tag: 'quality' })
  await give({ client: bob, at: 16 })
  await flood(3_500)
  const { rows, pages } = await walk('paid=true&limit=1')
  expect(rows.map(({ client_fid, paid }) => [client_fid, paid])).toEqual([
    [2, true],
    [2, true],
  ])
  expect(pages.length).toBeLessThan(3_502 / profileLimits.feedbackLookedAt + 4)
  await pool.query('delete from agent_feedback')
  expect(await summary()).toBeNull()
  const now = () => minute(0)
  expect(await refreshFeedback({ pool, now })).toBe(1)
  expect(await summary()).toMatchObject({ total: 3_502, clients: 3_501, by_strangers: 3_500, by_agents: 2, paid: 2 })
  expect((await summary())?.tags.map(({ tag }) => tag)).toEqual(['quality', 'starred'])
  expect(await refreshFeedback({ pool, now })).toBe(0)
  expect(await refreshFeedback({ pool, now: () => minute(10) })).toBe(1)
  await pool.query(`delete from feedback where id like 'flood-%'`)
  expect(await summary()).toMatchObject({ total: 2 })
  expect(await refreshFeedback({ pool, now })).toBe(0)
  expect((await pool.query('select from agent_feedback')).rowCount).toBe(0)
})

test('with very much feedback a profile and a page read no more than they show or may look at', async () => {
  await flood(30_000)
  await database.pool.query('vacuum (analyze) feedback')
  const filter = everyFeedback
  const page = { fid: 1, limit: 100, filter, after: undefined }
  const installation = { registries: {} as never, baseUrl: '' }
  const settings = { fid: 1, settlementOverloads: 'spec', installation } as const
  expect(await rowsRead(database.pool, (db) => agentProfile(db, settings))).toBeLessThan(500)
  expect(await rowsRead(database.pool, (db) => agentFeedback(db, page))).toBeLessThan(1_000)
  const deep = [String(minute(1_000).getTime() * 1_000 + 9_000_000_000), 'base', '10000', '0']
  expect(await rowsRead(database.pool, (db) => agentFeedback(db, { ...page, after: deep }))).toBeLessThan(1_000)
  const known = { ...filter, by: ['agent'] }
  expect(await rowsRead(database.pool, (db) => agentFeedback(db, { ...page, filter: known }))).toBeLessThan(5_000)
})
