import { afterAll, beforeAll, expect, test } from 'vitest'
import { rollUpSettlements } from '../../enrichment/periodic/rollup.ts'
import { startApi, type TestApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import {
  addressOf,
  countSettlements,
  insert,
  seedAgent,
  seedChainState,
  seedRegistration,
  seedSettlement,
} from '../support/seed.ts'

const database = testDatabase()
let api: TestApi
const own = [addressOf('first'), addressOf('second')]
const day = 86_400_000

beforeAll(async () => {
  api = await startApi(database)
  const { pool } = database
  await seedAgent(pool, { fid: 1, addresses: own, chains: ['base', 'celo'], claimMethod: 'jfs' })
  await seedAgent(pool, { fid: 2, addresses: [addressOf('third')], chains: ['base'] })
  const edge = { kind: 'settlement', direction: 'out', chain: 'base', weight: 3, amount: '5000000' }
  await insert(pool, 'agent_edge', { fid: 1, peer: 2, ...edge })
  await seedRegistration(pool, { chain: 'base', id: 0, owner: own[0]! })
  await seedRegistration(pool, { chain: 'base', id: 1, owner: null })
  await seedChainState(pool, { chain: 'base', indexed: 900, finalized: 800 })
  for (const [block, recipient] of [...own, addressOf('third'), addressOf('stranger')].entries()) {
    for (const [index, days] of [1, 29, 31, 400].entries()) {
      const at = new Date(Date.now() - days * day)
      const settlement = { chain: 'base', recipient, block: block * 10 + index, at } as const
      await seedSettlement(pool, { ...settlement, amount: 9_007_199_254_740_993n })
      await seedSettlement(pool, { ...settlement, logIndex: 1, selector: '0x88b7ab63' })
    }
  }
})
afterAll(() => api.stop())

// biome-ignore lint/suspicious/noExplicitAny: bodies are compared with rows, field by field
const read = async (path: string) => (await api.get(path)).json() as Promise<Record<string, any>>
const rows = async (sql: string) => (await database.pool.query(sql)).rows

test('settlements of an agent are the same rows in both, to the millionth of a dollar', async () => {
  const { settlements } = await read('/api/agent/1/settlements?limit=100')
  const inSql = await rows(`
    select tx_hash, block_number, log_index, payer_address, recipient_address, facilitator_address, payment_nonce,
           chain, selector
      from directory.agent_settlements
     where fid = 1 and counted
     order by block_timestamp desc, chain desc, block_number desc, log_index desc`)
  expect(settlements).toHaveLength(8)
  expect(settlements).toEqual(inSql.map((row) => expect.objectContaining(row)))
  expect(await rows(`select distinct amount_usdc from directory.agent_settlements where fid = 1 and counted`)).toEqual([
    { amount_usdc: '9007199254.740993' },
  ])
})

test('settlements of the last 30 days and of all time count the same', async () => {
  const { settlements_30d, settlements_all } = await read('/api/agent/1')
  const [counts] = await rows(`
    select count(*) filter (where block_timestamp > now() - interval '30 days') as settlements_30d,
           count(*) as settlements_all
      from directory.agent_settlements where fid = 1 and counted`)
  expect({ settlements_30d, settlements_all }).toEqual(counts)
  expect(counts).toEqual({ settlements_30d: 4, settlements_all: 8 })
})

test('once rolled up, the settlements of each hour and day are those of the rows, and of the API', async () => {
  while ((await rollUpSettlements({ pool: database.pool })) > 0);
  const factsBy = (unit: string) => `
    select recipient_address, chain, date_trunc('${unit}', block_timestamp, 'UTC') as at, counted,
           count(*) as settlements, sum(amount_usdc) as amount_usdc
      from directory.settlements group by 1, 2, 3, 4 order by 1, 2, 3, 4`
  const hours = await rows(`
    select recipient_address, chain, hour as at, counted, settlements, amount_usdc
      from directory.settlements_hourly order by 1, 2, 3, 4`)
  expect(hours).toHaveLength(32)
  expect(hours).toEqual(await rows(factsBy('hour')))
  const days = await rows(`
    select recipient_address, chain, day as at, counted, settlements, amount_usdc
      from directory.settlements_daily order by 1, 2, 3, 4`)
  expect(days).toEqual(await rows(factsBy('day')))
  const [sum] = await rows(`
    select sum(settlements)::int as settlements_all from directory.agent_settlements_daily where fid = 1 and counted`)
  expect(await read('/api/agent/1')).toMatchObject(sum)
  expect(sum).toEqual({ settlements_all: 8 })
})

test('the totals of the statistics are those of the views', async () => {
  await countSettlements(database.pool)
  const stats = await read('/api/stats')
  const [totals] = await rows(`
    select count(*) as total_agents, count(*) filter (where claimed) as claimed_count,
           count(*) filter (where cardinality(chains) > 1) as cross_chain_count
      from directory.agents`)
  expect(stats).toMatchObject(totals)
  const [supply] = await rows(`select count(*) from directory.registrations where chain = 'base' and not burned`)
  expect(stats.erc8004_supply.base).toBe(supply.count)
  const [base] = await rows(
    `select indexed_block, finalized_block, head_block from directory.chains where chain = 'base'`,
  )
  expect(stats.chains.find((one: { chain: string }) => one.chain === 'base')).toMatchObject(base)
})

test('an agent is the same in both', async () => {
  const agent = await read('/api/agent/1')
  const [row] = await rows(`
    select fid, handle, display_name, verified_addresses, claimed, claim_method, agent_status, spec_check_status
      from directory.agents where fid = 1`)
  expect(agent).toMatchObject(row)
})

test('an edge is the same in both, from either end', async () => {
  for (const [fid, peer] of [
    [1, 2],
    [2, 1],
  ]) {
    const { agent_edges } = await read(`/api/agent/${fid}`)
    const inSql = await rows(`
      select peer_fid as fid, kind, direction, chain, weight, amount_usdc::float8 from directory.edges where fid = ${fid}`)
    expect(inSql).toEqual([expect.objectContaining({ fid: peer, weight: 3, amount_usdc: 5 })])
    expect(agent_edges).toEqual([expect.objectContaining(inSql[0])])
  }
})
