import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { readChains } from '../../../config/chains.file.ts'
import { amendChain } from '../../../config/chains.ts'
import { readCoverage } from '../../../db/queries/log/coverage.ts'
import { dollarAbi } from '../../../devnet/chain/abi.ts'
import { accountOf, type DevChain, funder, startDevChain } from '../../../devnet/chain/chain.ts'
import { Auditor } from '../../../processors/audit/auditor.ts'
import { sourceOf } from '../../../processors/history/source-address.ts'
import { openHistory } from '../../../processors/history/sources.ts'
import { memorySource } from '../../doubles/portal/memory-source.ts'
import { readBlocks } from '../../doubles/portal/rpc-blocks.ts'
import { startPortal } from '../../doubles/portal/server.ts'
import { type ChainIndex, indexChain } from '../../support/chain/index-chain.ts'
import { allowProxy, payByProxy } from '../../support/chain/permit2.ts'
import { chainSettings } from '../../support/chain/settings.ts'
import { addressOf } from '../../support/seed.ts'

// A chain whose table names payment contracts and no token: what they pay, in any token, is indexed and audited.

const finality = 3 // blocks
const payer = accountOf('payer')
let chain: DevChain
let index: ChainIndex

beforeAll(async () => {
  amendChain('gnosis', { paymentContracts: [{ kind: 'permit2_exact', address: addressOf('proxy'), fromBlock: 0 }] })
  chain = await startDevChain('gnosis', { funded: [payer.address] })
  const token = chain.addresses.unlistedToken
  const data = encodeFunctionData({ abi: dollarAbi, functionName: 'mint', args: [payer.address, 1_000n] })
  await chain.execute(funder, { to: token, data })
  await chain.execute(payer, allowProxy(chain, token))
  const to = accountOf('seller').address
  for (const amount of [5n, 7n])
    await chain.execute(funder, payByProxy(chain, { owner: payer.address, to, amount, token }))
  await chain.client.mine({ blocks: finality + 1 })
  index = await indexChain(chain, { finality })
  await index.untilHead()
}, 300_000)
afterAll(async () => {
  await index?.close()
  await chain?.stop()
  amendChain('gnosis', { paymentContracts: [] })
})

/** An auditor of the chain by a Portal that has its blocks. */
async function auditorOf(): Promise<Auditor> {
  const blocks = await readBlocks(chain.rpc, 0, Number(await chain.client.getBlockNumber()))
  const portal = await startPortal({ datasets: { 'gnosis-mainnet': memorySource({ blocks, chunkBlocks: 4 }) } })
  onTestFinished(() => portal.stop())
  const file = chainSettings(chain, { finality, portal: portal.url })
  const { gnosis } = readChains({ env: {}, file })
  const source = sourceOf(gnosis, undefined)
  const auditor = new Auditor({
    databaseUrl: index.database.url,
    chain: gnosis,
    scope: 'all',
    source: source.kind,
    openHistory: (wanted) => openHistory(source, wanted),
    pauseMs: 60_000,
    log: { info: () => {}, warn: () => {} },
  })
  onTestFinished(() => auditor.close(1_000))
  return auditor
}

test('a payment that is missing on a chain without tokens is mended, certified and told of as covered', async () => {
  const { pool } = index.database
  const payments = async () => (await pool.query('select * from payment order by block_number')).rows
  const before = await payments()
  expect(before.map(({ net }) => net)).toEqual(['5', '7'])
  const last = before[1].block_number
  await pool.query('delete from head_range; delete from audit_certificate')
  await pool.query(`insert into head_range (chain, from_block, to_block, next_block) values ('gnosis', 1, $1, 1)`, [
    last,
  ])
  await pool.query('delete from payment where block_number = $1', [last])
  const auditor = await auditorOf()
  while (await auditor.audit());
  expect(auditor.mended).toEqual({ missing: 1, surplus: 0, changed: 0, unpaid: 0, contracts: 0 })
  expect(await payments()).toEqual(before)
  const { rows } = await pool.query('select payments::int, to_block from audit_certificate')
  expect(rows).toEqual([{ payments: 2, to_block: last }])
  const settings = readChains({ env: {}, file: chainSettings(chain, { finality }) })
  const { chains } = await readCoverage(pool, settings, 10)
  const head = Number(await chain.client.getBlockNumber())
  expect(chains.find((one) => one.chain === 'gnosis')).toMatchObject({
    first_block: 0,
    ranges: [{ from_block: 0, to_block: head, by: 'processor', state: 'indexed' }],
  })
})
