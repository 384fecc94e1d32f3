import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { stats } from '../../api/schemas/directory/stats.ts'
import { chainNames } from '../../config/chains.ts'
import { startApi, type TestApi } from '../support/api/api.ts'
import { createTestDatabase, testDatabase } from '../support/database.ts'
import {
  addressOf,
  birth,
  countSettlements,
  insert,
  seedAgent,
  seedChainState,
  seedRegistration,
  seedSettlement,
} from '../support/seed.ts'

const database = testDatabase()
let api: TestApi
beforeAll(async () => {
  api = await startApi(database)
})
afterAll(() => api.stop())

test('an empty directory has nothing of anything, and seven chains without a block', async () => {
  const fresh = await createTestDatabase()
  const empty = await startApi(fresh)
  const body = stats.parse(await (await empty.get('/api/stats')).json())
  expect(body).toMatchObject({ total_agents: 0, claimed_count: 0, cross_chain_count: 0, addresses_indexed: 0 })
  expect(body.settlements).toEqual({ last_24h: 0, last_7d: 0, last_30d: 0, all: 0 })
  expect(body.chains).toEqual(
    chainNames.map((chain) => ({
      chain,
      indexed_block: null,
      finalized_block: null,
      head_block: null,
      lag_seconds: null,
    })),
  )
  expect(body.log).toBeNull()
  await empty.stop()
  await fresh.drop()
})

test('which transparency log it is, and what the one before signed last, is in the stats and on the status page', async () => {
  const fresh = await createTestDatabase()
  onTestFinished(() => fresh.drop())
  const note = 'agents.example/log\n3000\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\n— agents.example/log AAAA\n'
  const shown = async () => {
    const other = await startApi(fresh)
    const { log } = stats.parse(await (await other.get('/api/stats')).json())
    const page = await (await other.get('/status')).text()
    await other.stop()
    return { log, said: /The transparency log.*/.exec(page.replaceAll(/<[^>]*>/g, ''))?.[0] }
  }
  await fresh.pool.query(`insert into transparency_checkpoint (size, note, key) values (12, $1, 'k')`, [note])
  expect(await shown()).toEqual({ log: { number: 1, entries: 12, before: null }, said: undefined })
  await fresh.pool.query('insert into transparency_epoch (epoch, first, note) values (2, 5, $1)', [note])
  expect(await shown()).toEqual({
    log: { number: 2, entries: 12, before: { origin: 'agents.example/log', entries: 3000, checkpoint: note } },
    said: expect.stringMatching(
      /^The transparency log is number 2: .*agents.example\/log, were lost.* of 3,000 entries, in /,
    ),
  })
})

test('the totals count agents, claims, chains, addresses, tokens and settlements once each', async () => {
  const { pool } = database
  const shared = addressOf('shared')
  await seedAgent(pool, { fid: 1, chains: ['base', 'celo'], addresses: [shared, addressOf('one')], claimMethod: 'jfs' })
  await seedAgent(pool, { fid: 2, chains: ['base'], addresses: [shared] })
  await seedAgent(pool, { fid: 3, chains: ['ethereum', 'gnosis', 'polygon'] })
  await seedRegistration(pool, { chain: 'base', id: 1, owner: shared })
  await seedRegistration(pool, { chain: 'base', id: 2, owner: addressOf('buyer') })
  await seedRegistration(pool, { chain: 'base', id: 3, owner: null })
  await seedRegistration(pool, { chain: 'gnosis', id: 1, owner: addressOf('seller') })
  await transfer(1, null, addressOf('seller'))
  await transfer(2, addressOf('seller'), addressOf('buyer'))
  await transfer(3, addressOf('seller'), null)
  for (const [block, days] of [0, 3, 20, 60].entries()) {
    const at = new Date(Date.now() - days * 86_400_000)
    await seedSettlement(pool, { chain: 'base', recipient: shared, block, at })
    await seedSettlement(pool, { chain: 'base', recipient: shared, block, logIndex: 1, at, selector: '0xcf092995' })
    await seedSettlement(pool, { chain: 'celo', recipient: addressOf('stranger'), block, at })
  }
  await seedChainState(pool, { chain: 'base', indexed: 500, finalized: 440, at: new Date(Date.now() - 90_000) })

  await countSettlements(pool)
  const response = await api.get('/api/stats')
  expect(response.headers.get('cache-control')).toBe('public, max-age=60')
  const body = stats.parse(await response.json())
  expect(body).toMatchObject({
    total_agents: 3,
    claimed_count: 1,
    cross_chain_count: 2,
    addresses_indexed: 4, // seller and buyer; shared and one
    erc8004_supply: { ethereum: 0, base: 2, celo: 0, arbitrum: 0, optimism: 0, polygon: 0, gnosis: 1 },
    settlements: { last_24h: 1, last_7d: 2, last_30d: 3, all: 4 },
  })
  const base = body.chains.find(({ chain }) => chain === 'base')
  expect(base).toMatchObject({ indexed_block: 500, finalized_block: 440, head_block: 500 })
  expect(base?.lag_seconds).toBeGreaterThanOrEqual(90)
})

test('figures are as of when they were counted: what has waited since yesterday is not of now', async () => {
  const { pool } = database
  let now = Date.now()
  const other = await startApi(database, { now: () => (now += 61_000) })
  const madeAt = async () => Date.parse(stats.parse(await (await other.get('/api/stats')).json()).generated_at)
  await pool.query('delete from due')
  expect(Math.abs((await madeAt()) - Date.now())).toBeLessThan(30_000)
  const marks = (kind: string, due: Date) =>
    insert(pool, 'due', { kind, key: 'agents:0', due_at: due, marked_at: birth })
  await marks('totals', new Date(Date.now() + 3_600_000))
  expect(Math.abs((await madeAt()) - Date.now())).toBeLessThan(30_000)
  const yesterday = new Date(Date.now() - 86_400_000)
  await marks('recipients', yesterday)
  expect(await madeAt()).toBe(yesterday.getTime())
  await pool.query('delete from due')
  await other.stop()
})

test('all figures are of the same agents: what an agent was paid goes and comes with it', async () => {
  const { pool } = database
  // Every request finds the cached answers stale.
  let now = Date.now()
  const other = await startApi(database, { now: () => (now += 61_000) })
  const figures = async () => {
    const { total_agents, settlements } = stats.parse(await (await other.get('/api/stats')).json())
    return [total_agents, settlements.all]
  }
  await seedAgent(pool, { fid: 9, addresses: [addressOf('nine')] })
  for (let block = 1; block <= 5; block++) {
    await seedSettlement(pool, { chain: 'optimism', recipient: addressOf('nine'), block })
  }
  await countSettlements(pool)
  const [agents = 0, paid = 0] = await figures()
  await pool.query('delete from agent where fid = 9')
  expect(await figures()).toEqual([agents, paid])
  await countSettlements(pool)
  expect(await figures()).toEqual([agents - 1, paid - 5])
  await other.stop()
})

function transfer(block: number, from: string | null, to: string | null) {
  const bytes = (address: string | null) => address && Buffer.from(address.slice(2), 'hex')
  return insert(database.pool, 'registration_transfer', {
    id: `base-${block}-0`,
    chain: 'base',
    agent_id: '1',
    from: bytes(from),
    to: bytes(to),
    block_number: block,
    log_index: 0,
    block_timestamp: birth,
    tx_hash: Buffer.alloc(32),
  })
}
