import { keccak256, toBytes } from 'viem'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { accountOf, type DevChain, funder, startDevChain } from '../../../devnet/chain/chain.ts'
import { register } from '../../../devnet/chain/identity.ts'
import { mint, pay, signAuthorization } from '../../../devnet/chain/payments.ts'
import { memorySource } from '../../doubles/portal/memory-source.ts'
import { readBlocks } from '../../doubles/portal/rpc-blocks.ts'
import { startPortal } from '../../doubles/portal/server.ts'
import { type ChainTables, describeDifference, readChainTables } from '../../support/chain/oracle.ts'
import { spawnProcessor } from '../../support/chain/processor.ts'
import { chainSettings } from '../../support/chain/settings.ts'
import { createTestDatabase, type OwnDatabase } from '../../support/database.ts'
import { type LimitedNode, startLimitedNode } from '../backfill/limited-node.ts'

// A Portal with the chain's headers and not its logs: a processor with a node next to it does not believe what it reads.

const finality = 3 // blocks
const timeout = 120_000
const payments = 24
const holder = accountOf('holder')

let chain: DevChain
let node: LimitedNode
let blocks: Awaited<ReturnType<typeof readBlocks>>
type Block = (typeof blocks)[number]
let height: number
let truth: ChainTables

beforeAll(async () => {
  chain = await startDevChain('base', { funded: [holder.address] })
  await chain.execute(funder, mint(chain, holder.address, 1_000_000n))
  await chain.client.mine({ blocks: 60 })
  await chain.execute(holder, register('https://agents.example/first'))
  for (let n = 0; n < payments; n++) {
    const nonce = keccak256(toBytes(`payment ${n}`))
    const to = accountOf('payee').address
    await chain.execute(funder, pay(await signAuthorization(chain, holder, { to, value: 5n, nonce })))
  }
  await chain.client.mine({ blocks: finality + 1 })
  height = Number(await chain.client.getBlockNumber())
  blocks = await readBlocks(chain.rpc, 0, height)
  node = await startLimitedNode(chain.rpc)
  const alone = await createTestDatabase()
  truth = await indexed(alone, chainSettings(chain, { finality }))
  await alone.drop()
}, timeout)
afterAll(async () => {
  await node?.close()
  await chain?.stop()
})

/** The tables of a processor that has indexed the chain. */
async function indexed(database: OwnDatabase, chainSettings: object) {
  const processor = await spawnProcessor({ chain: 'base', databaseUrl: database.url, chainSettings })
  try {
    await processor.untilIndexed(height)
  } finally {
    await processor.stop()
  }
  return readChainTables(database.pool, 'base')
}

/** Starts a processor on a Portal that has these blocks, until it is told to tell the truth. */
async function startOn(told: readonly Block[], kind: 'portal' | 'gateway') {
  const source = (of: readonly Block[]) =>
    memorySource({ blocks: of.slice(0, height - finality + 1), chunkBlocks: 1_000 })
  const honest = source(blocks)
  let current = source(told)
  const portal = await startPortal({
    datasets: {
      'base-mainnet': {
        startBlock: honest.startBlock,
        header: (number) => honest.header(number),
        head: () => current.head(),
        finalizedHead: () => current.finalizedHead(),
        chunkEnd: (number) => honest.chunkEnd(number),
        blocks: (from, to) => current.blocks(from, to),
      },
    },
  })
  onTestFinished(() => portal.stop())
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  const address = kind === 'portal' ? portal.url : portal.gatewayUrl('base-mainnet')
  const processor = await spawnProcessor({
    chain: 'base',
    databaseUrl: database.url,
    chainSettings: chainSettings(chain, { finality, rpc: node.url, [kind]: address }),
  })
  onTestFinished(() => processor.stop())
  return {
    processor,
    database,
    tellTruth() {
      current = honest
    },
  }
}

const withLogs = (change: (block: Block) => Block['logs']) => blocks.map((block) => ({ ...block, logs: change(block) }))

const lies: [string, 'portal' | 'gateway', () => readonly Block[]][] = [
  ['no logs', 'portal', () => withLogs(() => [])],
  ['no logs', 'gateway', () => withLogs(() => [])],
  ['every other log', 'portal', () => withLogs(({ logs, header }) => logs.filter((_, at) => (at + header.number) % 2))],
  ['the logs of every other block', 'portal', () => withLogs(({ logs, header }) => (header.number % 2 ? logs : []))],
  [
    'other amounts and words in its logs',
    'gateway',
    () => withLogs(({ logs }) => logs.map((log) => ({ ...log, topics: [...log.topics.slice(0, 2), log.topics[1]!] }))),
  ],
  [
    'a log of a payment that nobody made',
    'portal',
    () => {
      const paid = blocks.findLast(({ logs }) => logs.length > 0)!
      return blocks.map((block) =>
        block.header.number === 40 ? { ...block, transactions: paid.transactions, logs: paid.logs } : block,
      )
    },
  ],
]

test.each(lies)(
  'what a source with %s tells (%s) is not written, and is read once it is right',
  {
    timeout,
  },
  async (_, kind, told) => {
    const { processor, database, tellTruth } = await startOn(told(), kind)
    await processor.untilOutput(
      /the (Portal|archive) has (nothing in blocks \d+ to \d+, but|other logs in block \d+ than) the chain's node/,
    )
    const { settlement, registration } = await readChainTables(database.pool, 'base')
    expect([...settlement, ...registration]).toEqual([])
    tellTruth()
    await processor.untilIndexed(height)
    expect(describeDifference(await readChainTables(database.pool, 'base'), truth)).toBe('')
  },
)

test('a Portal whose head is old is gone on from by the node', { timeout }, async () => {
  const { processor, database } = await startOn(blocks.slice(0, 70), 'portal')
  await processor.untilIndexed(height)
  expect(describeDifference(await readChainTables(database.pool, 'base'), truth)).toBe('')
})

test('a node that has no history stops nobody, and is asked for little', { timeout }, async () => {
  const isOld = (number: string) => Number(number) < height - finality
  node.limits = {
    alter: ({ method, params }, reply) =>
      (method === 'eth_getBlockByNumber' && isOld(params[0])) ||
      (method === 'eth_getLogs' && params[0].fromBlock && isOld(params[0].fromBlock))
        ? { id: reply.id, error: { code: -32000, message: 'pruned history unavailable' } }
        : reply,
  }
  onTestFinished(() => {
    node.limits = {}
  })
  const asked = node.asked.length
  const { processor, database } = await startOn(blocks, 'portal')
  await processor.untilIndexed(height)
  expect(describeDifference(await readChainTables(database.pool, 'base'), truth)).toBe('')
  expect(processor.output()).toMatch(/the chain's node does not confirm/)
  const old = node.asked.slice(asked).filter(({ method, params }) => /getBlockByN/.test(method) && isOld(params[0]))
  expect(old.length).toBeLessThanOrEqual(16)
})
