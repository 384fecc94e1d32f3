import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest'
import { memorySource } from '../../doubles/portal/memory-source.ts'
import { readBlocks } from '../../doubles/portal/rpc-blocks.ts'
import { startPortal } from '../../doubles/portal/server.ts'
import { runBackfill } from '../../support/chain/backfill.ts'
import { describeDifference, readChainTables } from '../../support/chain/oracle.ts'
import { chainSettings } from '../../support/chain/settings.ts'
import { createTestDatabase } from '../../support/database.ts'
import { publishedCoverage } from './published-coverage.ts'
import { finality, type RpcStage, startRpcStage } from './rpc-stage.ts'

// A hole in an archive: right, linked headers without the logs. The chain's node is asked before it is believed.

let stage: RpcStage
let blocks: Awaited<ReturnType<typeof readBlocks>>
type Block = (typeof blocks)[number]
/** The block with the last payments, after some hundred empty ones. */
let lastPaid: number

beforeAll(async () => {
  stage = await startRpcStage()
  blocks = await readBlocks(stage.chain.rpc, 0, stage.lastBlock)
  lastPaid = Math.max(...stage.expected.settlement.map((row) => JSON.parse(row).block_number))
})
afterEach(() => stage.calm())
afterAll(() => stage?.end())

const without = (isHole: (block: number) => boolean) =>
  blocks.map((block): Block => (isHole(block.header.number) ? { ...block, transactions: [], logs: [] } : block))

/** Loads everything from a source that has these blocks, with the chain's node next to it. */
async function load(told: readonly Block[], kind: 'portal' | 'gateway' = 'portal') {
  const { chain, node, lastBlock, expected } = stage
  const source = memorySource({ blocks: told, chunkBlocks: 100 })
  const portal = await startPortal({ datasets: { 'base-mainnet': source } })
  onTestFinished(() => portal.stop())
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  const address = kind === 'portal' ? portal.url : portal.gatewayUrl('base-mainnet')
  const file = chainSettings(chain, { finality, rpc: node.url, [kind]: address })
  const ended = await runBackfill({
    databaseUrl: database.url,
    chainSettings: file,
    args: ['--chain', 'base', '--from', '0', '--to', String(lastBlock), '--workers', '1'],
  })
  const { settlement, unpaid_authorization } = await readChainTables(database.pool, 'base')
  const difference = describeDifference({ ...expected, settlement, unpaid_authorization }, expected)
  return { ...ended, difference, coverage: await publishedCoverage(database, file) }
}

test.each(['portal', 'gateway'] as const)('a %s that has no logs at all is not believed', async (kind) => {
  const { code, stderr, stdout, coverage } = await load(
    without(() => true),
    kind,
  )
  expect(code).toBe(1)
  expect(stderr + stdout).toMatch(/has nothing in blocks \d+ to \d+, but the chain's node has in block \d+/)
  expect(coverage.certificates).toEqual([])
})

test('a hole between payments is not believed, and the rows before it stay', async () => {
  const paid = stage.expected.settlement.map((row) => JSON.parse(row).block_number as number).sort((a, b) => a - b)
  const from = paid[Math.floor(paid.length / 4)] as number
  const { code, stderr, stdout, coverage } = await load(without((block) => block >= from && block < lastPaid))
  expect(code).toBe(1)
  expect(stderr + stdout).toMatch(/the chain's node has in block \d+/)
  expect(coverage.certificates).toEqual([])
})

test('a source without holes and the node are both named by the certificate', async () => {
  const { code, stdout, difference, coverage } = await load(blocks)
  expect(code).toBe(0)
  expect(difference).toBe('')
  expect(coverage.certificates).toMatchObject([{ sources: ['portal', 'rpc'] }])
  expect(stdout).toMatch(/and the chain's node agree/)
})

test('a node that does not answer stops no load, and the certificate does not name it', async () => {
  stage.node.limits = { alter: ({ method }, reply) => (/^eth_getB/.test(method) ? { ...reply, result: null } : reply) }
  const { code, stdout, difference, coverage } = await load(blocks)
  expect(code).toBe(0)
  expect(difference).toBe('')
  expect(coverage.certificates).toMatchObject([{ sources: ['portal'] }])
  expect(stdout).toMatch(/the word of .* alone/)
})
