import { afterAll, beforeAll, expect, test } from 'vitest'
import { readyChains } from '../../../config/chains.more.ts'
import { chainOf } from '../../../config/chains.ts'
import { ensureChainRows } from '../../../db/chain-rows.ts'
import { inTransaction } from '../../../db/pool.ts'
import { accountOf, type DevChain, startDevChain } from '../../../devnet/chain/chain.ts'
import { mint } from '../../../devnet/chain/payments.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { runIncome } from '../../derive/passes.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { allowProxy, payByProxy } from '../../support/chain/permit2.ts'
import { spawnProcessor, type TestProcessor } from '../../support/chain/processor.ts'
import { addReadyChains, readyEntry } from '../../support/chain/ready.ts'
import { testDatabase } from '../../support/database.ts'
import { insert, seedAgent } from '../../support/seed.ts'

// A ready-made chain whose dollar has 18 decimals, and is paid by Permit2.

const database = testDatabase()
const payer = accountOf('payer of a ready-made chain')
const seller = accountOf('seller of a ready-made chain').address.toLowerCase() as `0x${string}`
const paid = [5_000_000_000_000_000_000n, 1_234_567_890_123_456_789n]
let chain: DevChain
let processor: TestProcessor
let api: TestApi

beforeAll(async () => {
  addReadyChains(['bsc'])
  const { pool } = database
  await inTransaction(pool, ensureChainRows)
  chain = await startDevChain('bsc', { funded: [payer.address] })
  await chain.execute(payer, mint(chain, payer.address, 10n ** 19n))
  await chain.execute(payer, allowProxy(chain))
  for (const amount of paid) await chain.execute(payer, payByProxy(chain, { owner: payer.address, to: seller, amount }))
  await chain.client.mine({ blocks: 3 })
  const chainSettings = { bsc: readyEntry('bsc', chain.rpc) }
  processor = await spawnProcessor({ chain: 'bsc', databaseUrl: database.url, chainSettings, env: { CHAINS: 'bsc' } })
  await processor.untilIndexed(Number(await chain.client.getBlockNumber()))
  await seedAgent(pool, { fid: 7, addresses: [seller] })
  await insert(pool, 'agent_change', { fid: 7, kind: 'upsert', changed_at: new Date() })
  while ((await rollUpSettlements({ pool })) > 0);
  while ((await runIncome({ pool })) > 0);
  api = await startApi(database)
})
afterAll(async () => {
  await api?.stop()
  await processor?.stop()
  await chain?.stop()
})

test('dollars of 18 decimals that Permit2 paid on BSC are income, to the last digit in JSON and CSV', async () => {
  expect(chainOf('bsc').tokens[0]).toEqual({ ...readyChains.bsc?.tokens[0], fromBlock: 0 })
  const body = await (await api.get('/api/agent/7/income')).json()
  expect(body).toMatchObject({
    raw: { payments: 2, amount_usdc: 6.234567 },
    filtered: { payments: 2, amount_usdc: 6.234567 },
    other_tokens: { payments: 0 },
  })
  const json = await (await api.get('/api/agent/7/income/payments?order=asc')).text()
  expect([...json.matchAll(/"kind":"permit2_exact"/g)]).toHaveLength(2)
  expect([...json.matchAll(/"amount":"?(\d+)/g)].map(([, amount]) => amount)).toEqual(paid.map(String))
  expect([...json.matchAll(/"amount_usdc":([\d.]+)/g)].map(([, amount]) => amount)).toEqual([
    '5.000000000000000000',
    '1.234567890123456789',
  ])
  const csv = await (await api.get('/api/agent/7/income.csv')).text()
  expect(csv).toContain(',5.000000000000000000,permit2_exact,')
  expect(csv).toContain(',1.234567890123456789,permit2_exact,')
})

test('SQL has them too, and their sum in whole millionths', async () => {
  const single = await database.pool.query(
    'select base_units::text, decimals, amount_usdc::text as amount from directory.payments order by block_number',
  )
  expect(single.rows).toEqual([
    { base_units: String(paid[0]), decimals: 18, amount: '5.000000000000000000' },
    { base_units: String(paid[1]), decimals: 18, amount: '1.234567890123456789' },
  ])
  const { rows } = await database.pool.query(
    'select chain, kind, payments::int as payments, amount_usdc::text as amount from directory.income where fid = 7',
  )
  expect(rows).toEqual([{ chain: 'bsc', kind: 'permit2_exact', payments: 2, amount: '6.234567' }])
})
