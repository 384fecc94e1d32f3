import { expect, onTestFinished, test } from 'vitest'
import { paymentChain } from '../../../bench/payment-chain.ts'
import { startPortal } from '../../doubles/portal/server.ts'
import { runBackfill } from '../../support/chain/backfill.ts'
import { spawnProcessor } from '../../support/chain/processor.ts'
import { createTestDatabase, type OwnDatabase } from '../../support/database.ts'

// Twenty thousand calls in four thousand blocks, of which one in a hundred is built by a contract and needs a trace.

const chain = paymentChain({ firstBlock: 1_000, chunkBlocks: 1_000, chunks: 4, builtEvery: 100 })
const contract = (address: string) => ({ address, fromBlock: chain.firstBlock })
/** Each in a block of its own; so many requests it took when every block was asked for alone. */
const built = 199 // of 200, one reverts

async function start() {
  const portal = await startPortal({ datasets: { 'base-mainnet': chain.source }, chunksPerAnswer: 2 })
  onTestFinished(() => portal.stop())
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  const chainSettings = {
    base: {
      rpc: null,
      portal: portal.url,
      registry: contract('0x8004a169fb4a3325136eb29fa0ceb6d2e539a432'),
      reputation: contract('0x8004baa17c55a88189ae136b182e5fda19de9b63'),
      tokens: [{ ...contract(chain.token), decimals: 6 }],
      paymentContracts: [],
    },
  }
  const asked = () =>
    portal.requests.filter(({ path, body }) => path.endsWith('-stream') && JSON.parse(body).traces?.length > 0)
  return { portal, database, asked, options: { databaseUrl: database.url, chainSettings } }
}

async function bySource({ pool }: OwnDatabase) {
  const { rows } = await pool.query(
    'select selector_source, count(*)::int as count, count(distinct block_number)::int as blocks from settlement group by 1 order by 1',
  )
  return rows
}

test('a load asks for the traces of all blocks of a batch together: 199 requests become few', async () => {
  const { database, asked, options } = await start()
  const range = ['--from', String(chain.firstBlock), '--to', String(chain.lastBlock)]
  const { code } = await runBackfill({ ...options, args: ['--chain', 'base', ...range, '--workers', '1'] })
  expect(code).toBe(0)
  expect(await bySource(database)).toEqual([
    { selector_source: 'c', count: chain.settlements - built, blocks: 4_000 },
    { selector_source: 't', count: built, blocks: built },
  ])
  expect(asked().length).toBeLessThanOrEqual(8)
})

test('a processor asks for the traces of all blocks of a batch together', async () => {
  const { database, asked, options } = await start()
  const processor = await spawnProcessor({ chain: 'base', ...options })
  onTestFinished(() => processor.stop())
  await processor.untilIndexed(chain.lastBlock)
  expect(await bySource(database)).toMatchObject([{ selector_source: 'c' }, { selector_source: 't', blocks: built }])
  expect(asked().length).toBeLessThanOrEqual(12)
})
