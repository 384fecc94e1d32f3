import { afterAll, beforeAll, expect, test } from 'vitest'
import { profile } from '../../../api/schemas/agents/profile.ts'
import { feedbackList } from '../../../api/schemas/feedback/feedback.ts'
import { markDue } from '../../../db/queries/due/queue.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { runIncome } from '../../derive/passes.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import {
  addressOf,
  birth,
  insert,
  seedAgent,
  seedChainState,
  seedHolding,
  seedRegistration,
  seedSettlement,
} from '../../support/seed.ts'

const database = testDatabase()
let api: TestApi
/** The API's clock, a minute later at each look, so that no answer comes from its cache. */
let ms = Date.now()
const bytes = (address: string) => Buffer.from(address.slice(2), 'hex')
const minute = (n: number) => new Date(birth.getTime() + n * 60_000)
const own = addressOf('own')
const bob = addressOf('bob')

beforeAll(async () => {
  api = await startApi(database, { now: () => (ms += 60_000) })
  const { pool } = database
  await seedAgent(pool, { fid: 1, addresses: [own], chains: ['base'] })
  await seedRegistration(pool, { chain: 'base', id: 7, owner: own })
  await seedHolding(pool, { fid: 1, chain: 'base', id: 7, by: own, block: 0 })
  await seedSettlement(pool, { chain: 'base', recipient: own, at: minute(10), block: 10, payer: bob })
  await seedChainState(pool, { chain: 'base', indexed: 100, finalized: 100 })
  while ((await rollUpSettlements({ pool })) > 0);
  await markDue(pool, 'income', ['1'])
  while ((await runIncome({ pool })) > 0);
})
afterAll(() => api.stop())

async function give(client: string, at: number, value: number, { tag = 'quality', decimals = 0 } = {}) {
  await insert(database.pool, 'feedback', {
    id: `base-7-${at}`,
    chain: 'base',
    agent_id: 7,
    client: bytes(client),
    feedback_index: at,
    value,
    value_decimals: decimals,
    tag1: tag,
    tag2: '',
    endpoint: '',
    feedback_uri: '',
    feedback_hash: Buffer.alloc(32),
    block_number: at,
    log_index: 0,
    block_timestamp: minute(at),
    tx_hash: Buffer.alloc(32, 1),
  })
}

const summary = async () => profile.parse(await (await api.get('/api/agent/1')).json()).feedback
/** Indexes of the feedback that a filter finds, the newest first. */
const found = async (filter: string) =>
  feedbackList
    .parse(await (await api.get(`/api/agent/1/feedback?${filter}`)).json())
    .feedback.map(({ feedback_index }) => feedback_index)
const listed = async () => feedbackList.parse(await (await api.get('/api/agent/1/feedback')).json()).feedback

test('flagged feedback is listed with its rules, counted, and left out of what is grounded', async () => {
  const { pool } = database
  const clients = ['base', 'celo'].map((name) => addressOf(`flagged ${name}`))
  await give(bob, 15, 80) // paid
  await give(clients[0]!, 16, 100)
  await give(clients[1]!, 17, 100)
  for (const client of [bob, ...clients])
    await insert(pool, 'feedback_client', {
      client: bytes(client),
      seen_at: minute(1),
      is_idle: client === clients[1],
      registrations: ['base:7'],
      funder: client === clients[1] ? null : bytes(addressOf('funder')),
      generation: client === clients[0] ? 5 : 4,
    })
  const group = (rule: string, subject: string) =>
    insert(pool, 'feedback_group', { rule, subject, clients: 9, compared: 9 })
  await group('shared_funder', addressOf('funder').slice(2))
  await group('only_rates', 'base:7')
  await group('circle', addressOf('nobody').slice(2))
  expect((await listed()).map(({ flags }) => flags)).toEqual([
    ['only_rates'],
    ['funding_chain', 'shared_funder'],
    ['shared_funder'],
  ])
  expect(await found('flagged=true')).toEqual([17, 16, 15])
  expect(await found('flagged=false')).toEqual([])
  expect(await found('flag=funding_chain')).toEqual([16])
  expect(await found('flag=only_rates&flag=funding_chain')).toEqual([17, 16])
  expect(await found('flag=only_rates&paid=true')).toEqual([])
  expect(await found('flag=unheard')).toEqual([])
  expect(await found('flagged=perhaps')).toEqual([])
  const inSql = await pool.query('select flags from directory.agent_feedback where fid = 1 order by block_number desc')
  expect(inSql.rows.map(({ flags }) => flags)).toEqual([
    ['only_rates'],
    ['funding_chain', 'shared_funder'],
    ['shared_funder'],
  ])
  const clientsInSql = await pool.query(
    'select client_address, funder_address, flags from directory.feedback_clients where client_bytes = $1',
    [bytes(clients[0]!)],
  )
  expect(clientsInSql.rows).toEqual([
    { client_address: clients[0], funder_address: addressOf('funder'), flags: ['funding_chain', 'shared_funder'] },
  ])
  expect(await summary()).toMatchObject({
    total: 3,
    paid: 1,
    count_grounded: 0,
    count_unflagged: 0,
    flags: { circle: 0, funding_chain: 1, made_together: 0, only_rates: 1, shared_funder: 2 },
    tags: [
      {
        feedback: 3,
        median: 100,
        count_grounded: 0,
        median_grounded: null,
        count_unflagged: 0,
        median_unflagged: null,
      },
    ],
  })
  await pool.query(`delete from feedback_group where rule = 'shared_funder'`)
  expect(await found('flagged=true')).toEqual([17, 16])
  expect(await found('flagged=false')).toEqual([15])
  expect(await summary()).toMatchObject({
    count_grounded: 1,
    count_unflagged: 1,
    tags: [{ median: 100, median_grounded: 80, median_unflagged: 80 }],
  })
})

test('a tag whose values are of two scales has a median of each, with the unit of the one in its range', async () => {
  await give(bob, 901, 560, { tag: 'responseTime' })
  await give(bob, 902, 99, { tag: 'uptime' })
  await give(bob, 903, 9977, { tag: 'uptime', decimals: 2 })
  await give(bob, 904, 9977, { tag: 'uptime' })
  const medians = (await summary())!.tags
    .filter(({ tag }) => ['responseTime', 'uptime'].includes(tag))
    .map(({ tag, unit, feedback, median }) => [tag, unit, feedback, median])
  expect(medians).toEqual([
    ['uptime', 'percent', 2, 99],
    ['responseTime', 'milliseconds', 1, 560],
    ['uptime', null, 1, 9977],
  ])
  expect(await (await api.get('/agent/1')).text()).toContain('<bdi>uptime</bdi> 99 % ')
})
