import { afterAll, beforeAll, expect, test } from 'vitest'
import { addressExplanation, agentExplanation } from '../../api/schemas/agents/explain.ts'
import { failure, startApi, type TestApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import {
  addressOf,
  birth,
  insert,
  seedAgent,
  seedChainState,
  seedRegistration,
  seedVerification,
} from '../support/seed.ts'

const [holder, former, idle, stranger] = ['holder', 'former', 'idle', 'stranger'].map(addressOf) as [
  string,
  string,
  string,
  string,
]
const database = testDatabase()
let api: TestApi
beforeAll(async () => {
  const { pool } = database
  await seedAgent(pool, { fid: 1, addresses: [holder], chains: ['base'] })
  await seedRegistration(pool, { chain: 'base', id: 1, owner: holder })
  await seedAgent(pool, { fid: 2, status: 'historical' })
  await seedVerification(pool, { fid: 2, address: former, endedAt: new Date('2026-05-01T00:00:00Z') })
  await seedRegistration(pool, { chain: 'optimism', id: 2, owner: former })
  await seedVerification(pool, { fid: 3, address: idle })
  await seedRegistration(pool, { chain: 'celo', id: 3, owner: stranger })
  await seedChainState(pool, { chain: 'base', indexed: 200, finalized: 190, at: birth })
  for (const [source, subject] of [
    ['socialindex', 'fid:1'],
    ['social_events', 'shard:1'],
    ['socialindex', 'fid:2'],
  ] as const) {
    await insert(pool, 'source_state', { source, subject, due_at: birth, last_attempt_at: birth, last_outcome: 'ok' })
  }
  await pool.query('delete from due')
  api = await startApi(database)
})
afterAll(() => api.stop())

const ofFid = async (fid: number) => agentExplanation.parse(await (await api.get(`/api/agent/${fid}/explain`)).json())
const ofAddress = async (address: string) =>
  addressExplanation.parse(await (await api.get(`/api/by-address/${address}/explain`)).json())
const holding = (rules: { rule: string; holds: boolean }[]) =>
  rules.filter(({ holds }) => holds).map(({ rule }) => rule)

test('an active agent is explained by its registration, with the chains and sources that say so', async () => {
  const answer = await ofFid(1)
  expect(answer).toMatchObject({ fid: 1, in_index: true, agent_status: 'active', is_queued: false })
  expect(answer.summary).toContain('a verified address holds an ERC-8004 registration')
  expect(holding(answer.rules)).toEqual(['verified', 'token'])
  expect(answer.rules[1]).toEqual({
    rule: 'token',
    holds: true,
    found: 'verified addresses hold 1 ERC-8004 registration on Base',
    next: null,
  })
  expect(answer.sources.map(({ source, subject }) => `${source} ${subject}`)).toEqual([
    'social_events shard:1',
    'socialindex fid:1',
  ])
  expect(answer.verifications).toMatchObject([{ chains: ['Base'], chain_names: ['base'] }])
  expect(answer.chains).toEqual([{ chain: 'base', indexed_block: 200, indexed_at: birth.toISOString() }])
})

test('a historical one by what it lost with a verification', async () => {
  const answer = await ofFid(2)
  expect([answer.agent_status, holding(answer.rules)]).toEqual(['historical', ['history']])
  expect(answer.rules[0]).toMatchObject({ found: 'FID 2 verifies no address, and 1 no more', next: expect.any(String) })
})

test('a FID that is not listed learns what to do: it verifies an address without a registration', async () => {
  const answer = await ofFid(3)
  expect([answer.in_index, answer.agent_status, holding(answer.rules)]).toEqual([false, null, ['verified']])
  expect(answer.rules.find(({ rule }) => rule === 'token')?.next).toContain('register an agent with a verified address')
  expect(answer.rules.find(({ rule }) => rule === 'claim')?.next).toContain('POST /api/claim')
})

test('a FID nobody has heard of is explained too, however large', async () => {
  const response = await api.get('/api/agent/9/explain')
  expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'public, max-age=30'])
  expect(holding(agentExplanation.parse(await response.json()).rules)).toEqual([])
  const tooLarge = await api.get('/api/agent/99999999999999999999999/explain')
  expect(await failure(tooLarge)).toMatchObject({ status: 404, error: 'ERR_NOT_FOUND' })
})

test('an entry that waits to be computed says so', async () => {
  await insert(database.pool, 'due', { kind: 'agents', key: '4' })
  expect(await ofFid(4)).toMatchObject({ is_queued: true, summary: expect.stringContaining('computed again') })
})

test.for([
  ['holder', 1, ['verified', 'token'], 'leads to the agent with FID 1'],
  ['former', null, ['token'], 'it holds an ERC-8004 registration, and no account verifies it'],
  ['idle', null, ['verified'], 'has no ERC-8004 registration at a verified address and was not claimed'],
  ['stranger', null, ['token'], 'no account verifies it'],
  ['nobody', null, [], 'no account verifies it, and it holds no ERC-8004 registration'],
] as const)('address of %s: agent %j, rules that hold %j', async ([name, fid, rules, summary]) => {
  const answer = await ofAddress(addressOf(name))
  expect([answer.fid, answer.in_index, holding(answer.rules)]).toEqual([fid, fid !== null, rules])
  expect(answer.summary).toContain(summary)
})

test('an account that left the directory is not explained, and no address names it', async () => {
  const { pool } = database
  for (const fid of [5, 6]) {
    await seedVerification(pool, { fid, address: addressOf(`${fid}`) })
    await seedRegistration(pool, { chain: 'base', id: fid, owner: addressOf(`${fid}`) })
  }
  await insert(pool, 'unlisted', { fid: 6, since: birth })
  const owners = async (address: string) => (await api.get(`/api/by-address/${address}/owners`)).json()
  expect(await ofFid(5)).toMatchObject({ in_index: false, verifications: [{ fid: 5 }] })
  expect(await ofAddress(addressOf('5'))).toMatchObject({ verifications: [{ fid: 5 }] })
  expect(await owners(addressOf('5'))).toMatchObject({ owners: [{ fid: 5 }] })
  expect(await failure(await api.get('/api/agent/6/explain'))).toMatchObject({ error: 'ERR_NOT_FOUND' })
  const explained = await ofAddress(addressOf('6'))
  expect([explained.fid, explained.verifications, holding(explained.rules)]).toEqual([null, [], ['token']])
  expect(await owners(addressOf('6'))).toMatchObject({ owners: [] })
})

test('what is no FID and no address is refused as everywhere', async () => {
  expect(await failure(await api.get('/api/agent/0/explain'))).toMatchObject({ error: 'ERR_FID_INVALID' })
  expect(await failure(await api.get('/api/by-address/0x1/explain'))).toMatchObject({ error: 'ERR_ADDRESS_MALFORMED' })
})
