import { keccak256, toBytes } from 'viem'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { readChains } from '../../../chains.file.ts'
import { accountOf, type DevChain, startDevChain } from '../../../devnet/chain.ts'
import { aggregate, mint, pay, signAuthorization } from '../../../devnet/chain-payments.ts'
import { memorySource } from '../../../devnet/portal/memory-source.ts'
import { readBlocks } from '../../../devnet/portal/rpc-blocks.ts'
import { startPortal } from '../../../devnet/portal/server.ts'
import { BlockEncoder } from '../../../processors/backfill/block-encoder.ts'
import { RpcHistory } from '../../../processors/backfill/rpc-history.ts'
import { Slices } from '../../../processors/backfill/slices.ts'
import { openHistory, rpcSource } from '../../../processors/backfill/sources.ts'
import { certifySource } from '../../../processors/backfill/verify.ts'
import { prepareTraffic, trafficAddresses, trafficBranch } from '../../chain/traffic.ts'
import { runBackfill } from '../../tools/backfill.ts'
import { forkHere } from '../../tools/branches.ts'
import { cleanTables } from '../../tools/chain-index.ts'
import { chainSettings } from '../../tools/chain-settings.ts'
import { createTestDatabase, type TestDatabase } from '../../tools/database.ts'
import { type ChainTables, describeDifference, readChainTables } from '../../tools/oracle.ts'
import { addressFor } from '../calls.ts'
import { type LimitedNode, type NodeLimits, startLimitedNode } from './limited-node.ts'

const finality = 2 // blocks
/** Blocks without anything between two payments. */
const quietBlocks = 700
const late = accountOf('payer after a long time')

let chain: DevChain
let node: LimitedNode
let expected: ChainTables
let lastBlock: number
const databases: TestDatabase[] = []
beforeAll(async () => {
  chain = await startDevChain('base', { funded: [...trafficAddresses, late.address] })
  await prepareTraffic(chain)
  const fork = await forkHere(chain)
  await fork.mine(await trafficBranch(chain, 'history', 12))
  await chain.client.mine({ blocks: quietBlocks })
  await chain.client.setAutomine(true)
  await chain.execute(late, mint(chain, late.address, 1_000n))
  const authorize = (name: string) =>
    signAuthorization(chain, late, { to: late.address, value: 7n, nonce: keccak256(toBytes(name)) })
  const [one, other] = [await authorize('one of two'), await authorize('the other')]
  await chain.execute(late, aggregate(chain, [pay(one), pay(other)]))
  lastBlock = Number(await chain.client.getBlockNumber())
  await chain.client.mine({ blocks: finality })
  node = await startLimitedNode(chain.rpc)
  expected = await cleanTables(chain, { finality })
})
afterEach(() => {
  node.limits = {}
  node.asked.splice(0)
})
afterAll(async () => {
  await node?.close()
  for (const database of databases) await database.drop()
  await chain?.stop()
})

const range = () => ['--chain', 'base', '--from', '0', '--to', String(lastBlock)]
const load = ({ url }: TestDatabase, ...more: string[]) =>
  runBackfill({
    databaseUrl: url,
    chainSettings: chainSettings(chain, { finality, rpc: node.url }),
    args: [...range(), ...more],
  })

async function emptyDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase()
  databases.push(database)
  return database
}

/** Settlements and what moved nothing: what a backfill loads. */
async function difference({ pool }: TestDatabase) {
  const { settlement, unpaid_authorization } = await readChainTables(pool, 'base')
  return describeDifference({ ...expected, settlement, unpaid_authorization }, expected)
}

test('a node alone gives the rows that the processor makes of it, traced calls included', async () => {
  const database = await emptyDatabase()
  const { code, stdout, stderr } = await load(database, '--workers', '2')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/from the RPC endpoint 127\.0\.0\.1:\d+; about \d+ of them/)
  expect(await difference(database)).toBe('')
  const sources = expected.settlement.map((row) => JSON.parse(row).selector_source)
  expect(new Set(sources)).toEqual(new Set(['c', 't']))

  const settled = new Set(expected.settlement.map((row) => JSON.parse(row).block_number))
  const read = new Set(
    node.asked.filter(({ method }) => method.startsWith('eth_getBlockBy')).map(({ params }) => params[0]),
  )
  expect(read.size).toBeLessThan(settled.size + 40) // the ends of the ranges that were searched
  expect(node.asked.some(({ method }) => method === 'eth_getBlockReceipts')).toBe(false)
})

test('a node and the Portal certify the same', async () => {
  const database = await emptyDatabase()
  expect((await load(database, '--workers', '1')).code).toBe(0)
  const source = memorySource({ blocks: await readBlocks(chain.rpc, 0, lastBlock), chunkBlocks: 100 })
  const portal = await startPortal({ datasets: { 'base-mainnet': source } })
  try {
    const other = await load(database, '--verify', '--portal', portal.url)
    expect({ code: other.code, stderr: other.stderr }).toEqual({ code: 0, stderr: '' })
    expect(other.stdout).toMatch(/says the same\n$/)
    const again = await load(database, '--verify', '--rpc', node.url)
    expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: '' })
    expect(again.stdout).toMatch(/the RPC endpoint .* says the same\n$/)
  } finally {
    await portal.stop()
  }
})

/** What the history at the node comes to, with the hashes of its ends. */
function certify(warn: (text: string) => void = () => {}) {
  const file = chainSettings(chain, { finality, rpc: node.url })
  const settings = readChains({ env: {}, file }).base
  const tokens = settings.tokens.map(({ address }) => address)
  const history = openHistory(rpcSource(settings, node.url), { tokens })
  const range = { firstBlock: 0, lastBlock }
  return certifySource(history, { chain: settings, tokens, second: undefined }, range, warn)
}

const lies = (times: number, alter: NonNullable<NodeLimits['alter']>): NodeLimits => {
  let left = times
  return {
    alter(question, reply) {
      const altered = left > 0 ? alter(question, reply) : reply
      if (altered !== reply) left--
      return altered
    },
  }
}

const tooMany = { status: 429, body: 'slow down', retryAfterSeconds: 0 }
const tooWide = { status: 400, body: '{"id":1,"error":{"code":-32602,"message":"block range is too wide"}}' }

test.each<[string, () => NodeLimits]>([
  ['takes few blocks at a time', () => ({ blocks: 90 })],
  ['answers few logs at a time', () => ({ logs: 8 })],
  ['takes few calls at a time', () => ({ batch: 3 })],
  ['takes no batches', () => ({ batch: 1 })],
  ['limits the rate, with status 429', () => ({ fails: (request) => request % 3 === 0, failure: tooMany })],
  ['limits the rate of calls, in a batch too', () => ({ fails: (_, calls) => calls > 7, failure: tooMany })],
  ['limits the rate, inside of its answers', () => ({ fails: (request) => request % 9 === 2 })],
  ['is overloaded', () => ({ fails: (request) => request % 5 === 1, failure: { status: 503, body: 'busy' } })],
  ['answers no JSON', () => ({ fails: (request) => request % 5 === 1, failure: { status: 200, body: '<html>' } })],
  ['cuts connections', () => ({ fails: (request) => request % 5 === 1, failure: 'cut' })],
  ['refuses a long range with status 400', () => ({ blocks: 90, refusal: tooWide })],
  ['refuses a long answer with status 413', () => ({ logs: 8, refusal: { status: 413, body: '' } })],
  [
    'has not all the logs yet, nor the last block',
    () => {
      // Both of one batch are asked of the same node.
      let behind = 2
      return {
        alter({ method, params }, reply) {
          if (behind === 0) return reply
          if (method === 'eth_getLogs') return { id: reply.id, result: [] }
          if (method !== 'eth_getBlockByNumber' || params[0] === '0x0') return reply
          behind--
          return { id: reply.id, result: null }
        },
      }
    },
  ],
  [
    'has no receipt yet',
    () =>
      lies(2, ({ method }, reply) => (method === 'eth_getTransactionReceipt' ? { id: reply.id, result: null } : reply)),
  ],
  [
    'leaves a log out of a receipt',
    () =>
      lies(2, ({ method }, reply) => {
        if (method !== 'eth_getTransactionReceipt') return reply
        const receipt = reply.result as { logs: unknown[] }
        return { id: reply.id, result: { ...receipt, logs: receipt.logs.slice(1) } }
      }),
  ],
  [
    'leaves a log out of the search',
    () =>
      lies(2, ({ method }, reply) => {
        if (method !== 'eth_getLogs') return reply
        const logs = reply.result as { transactionHash: string }[]
        const second = logs.findIndex(({ transactionHash }, at) => transactionHash === logs[at - 1]?.transactionHash)
        return second < 0 ? reply : { id: reply.id, result: logs.toSpliced(second, 1) }
      }),
  ],
  [
    'knows a transaction in another block',
    () =>
      lies(2, ({ method }, reply) => {
        if (method !== 'eth_getTransactionByHash') return reply
        const elsewhere = { blockHash: `0x${'ab'.repeat(32)}`, from: addressFor('somebody else') }
        return { id: reply.id, result: { ...(reply.result as object), ...elsewhere } }
      }),
  ],
])('an endpoint that %s gives the same rows', async (_, limits) => {
  const truth = await certify()
  expect(truth.settlements).toBe(expected.settlement.length)
  node.limits = limits()
  expect(await certify()).toEqual(truth)
})

test.each<[string, NodeLimits, RegExp]>([
  [
    'of another chain',
    { alter: ({ method }, reply) => (method === 'eth_chainId' ? { id: reply.id, result: '0x1' } : reply) },
    /does not tell its newest final block: it answers chain id 1, expected 8453\n$/,
  ],
])('an endpoint %s is refused with one line', async (_, limits, line) => {
  node.limits = limits
  const { code, stderr } = await load(await emptyDatabase())
  expect(stderr).toMatch(line)
  expect(stderr.trimEnd()).not.toContain('\n')
  expect(code).toBe(1)
})

test('an endpoint without traces lets selectors be inferred, and is told of once', async () => {
  node.limits = {
    alter: ({ id, method }, reply) =>
      method === 'debug_traceTransaction' ? { id, error: { code: -32601, message: 'the method is not there' } } : reply,
  }
  const warnings: string[] = []
  const { settlements } = await certify((text) => warnings.push(text))
  const unpaid = expected.unpaid_authorization.length
  expect(settlements).toBeGreaterThanOrEqual(expected.settlement.length)
  expect(settlements).toBeLessThanOrEqual(expected.settlement.length + unpaid)
  expect(warnings).toEqual([
    expect.stringMatching(
      /^no trace of 0x\w{64}, selector inferred: .* the method is not there \(-32601\); .* not told of$/,
    ),
  ])
})

test('an endpoint with sockets is refused with one line', async () => {
  const { url } = await emptyDatabase()
  const settings = chainSettings(chain, { finality, rpc: chain.rpc.replace('http', 'ws') })
  const { code, stderr } = await runBackfill({ databaseUrl: url, chainSettings: settings, args: range() })
  expect(stderr).toMatch(/^the RPC endpoint 127\.0\.0\.1:\d+: history is read over http or https alone\n$/)
  expect(code).toBe(1)
})

test('the history of a few recipients is their settlements, read from the blocks that have them', async () => {
  const rows = expected.settlement.map((row) => JSON.parse(row))
  const addressOf = ({ recipient }: { recipient: string }) => `0x${recipient.slice(2)}`
  const recipients = [chain.addresses.puller, late.address].map((address) => String(address).toLowerCase())
  const tokens = chainSettings(chain).base?.tokens.map(({ address }) => String(address)) ?? []
  const source = { url: node.url, chainId: chain.chainId, finalityConfirmation: finality }
  const history = new RpcHistory(source, { tokens, recipients })
  const encoder = new BlockEncoder('base', new Set(tokens), async () => undefined)
  const slices = new Slices(history, 0, lastBlock, null, { warn: () => {} })
  while (!slices.isDone) await slices.advance(encoder)
  const theirs = rows.filter((row) => recipients.includes(addressOf(row)))
  const theirTransactions = new Set(theirs.map(({ tx_hash }) => tx_hash))
  const { tally } = encoder.pages.takeAll()
  expect(theirs.length).toBeGreaterThan(1)
  expect(tally.settlements).toBe(rows.filter(({ tx_hash }) => theirTransactions.has(tx_hash)).length)
  expect(node.asked.filter(({ method }) => method === 'eth_getTransactionReceipt').length).toBeLessThan(rows.length)
})
