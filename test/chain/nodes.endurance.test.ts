import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { type DevChain, startDevChain } from '../../devnet/chain/chain.ts'
import type { RpcQuestion } from '../doubles/rpc-faults.ts'
import { startRpcProxy } from '../doubles/rpc-proxy.ts'
import { type Branch, forkHere } from '../support/chain/branches.ts'
import { cleanTables, startProcessor, untilSame } from '../support/chain/index-chain.ts'
import { createTestDatabase } from '../support/database.ts'
import { preparation, trafficAddresses, trafficBranch } from './traffic.ts'
import { expectDerived } from './traffic-agents.ts'

const genesisTime = 1_770_000_000
const finality = 6 // blocks
const timeout = 400_000
/** Seconds until the rows must be right: each request meets the better node in two of three cases, several in a row. */
const sameSeconds = 60

/** Two nodes of one chain behind one address, as a provider has them. */
let ahead: DevChain
let other: DevChain
/** Picks the node that answers a request. */
let choose: (questions: readonly RpcQuestion[]) => DevChain
let url: string
/** What the test indexes, to derive from once it is done. */
let database: Awaited<ReturnType<typeof createTestDatabase>>

beforeEach(async () => {
  const nodes = [0, 1].map(() => startDevChain('base', { genesisTime, funded: trafficAddresses }))
  ;[ahead, other] = (await Promise.all(nodes)) as [DevChain, DevChain]
  await extend([ahead, other], [...preparation(ahead), ...(await trafficBranch(ahead, 'history', 12))])
  expect((await ahead.client.getBlock()).hash).toBe((await other.client.getBlock()).hash)
  const proxy = await startRpcProxy((questions) => choose(questions).rpc)
  onTestFinished(() => proxy.close())
  url = proxy.url
})
afterEach(async () => {
  try {
    await expectDerived(database)
  } finally {
    await ahead?.stop()
    await other?.stop()
  }
})

test('with a node that is behind the other, by more than the finality too, the rows are right', {
  timeout,
}, async () => {
  choose = either()
  const index = await start()
  for (const blocks of [1, 3, finality + 2]) {
    const branch = await trafficBranch(ahead, `${blocks} ahead`, blocks)
    await extend([ahead], branch)
    await isClean(index)
    await extend([other], branch)
  }
})

test('a processor that meets a node without the blocks it has indexed waits for them', { timeout }, async () => {
  choose = () => ahead
  const index = await start()
  const branch = await trafficBranch(ahead, 'ahead', finality + 2)
  await extend([ahead], branch)
  await isClean(index)
  await index.processor.kill('SIGTERM')

  choose = () => other
  const next = await start(index.database)
  await next.processor.untilOutput(/does not show block \d+/)
  await extend([other], branch)
  await isClean(next)
})

test('two hashes for one height: it ends on the branch that both nodes end on', { timeout }, async () => {
  choose = either()
  const index = await start()
  const forks = [await forkHere(ahead), await forkHere(other)] as const
  const right = await trafficBranch(ahead, 'right', 3)
  await Promise.all([forks[0].mine(right), forks[1].mine(await trafficBranch(other, 'wrong', 3))])
  await index.processor.untilIndexed(Number(await ahead.client.getBlockNumber()))
  await forks[1].mine(right)
  await isClean(index)
})

test('a head that one node names and another block of its height from the other: no rest before the head itself', {
  timeout,
}, async () => {
  choose = ([question]) => (question?.params?.[0] === 'latest' ? ahead : other)
  const index = await start()
  const fork = await forkHere(other)
  const right = await trafficBranch(ahead, 'right', 1)
  await extend([ahead], right)
  const head = Number(await ahead.client.getBlockNumber())
  await fork.mine(await trafficBranch(other, 'wrong', 1))
  await index.processor.untilIndexed(head)
  await fork.mine(right)
  await isClean(index)
})

test('a node that has lost the chain for a moment is not believed', { timeout }, async () => {
  choose = () => ahead
  const fork = await forkHere(other)
  const index = await start()
  const right = await trafficBranch(ahead, 'right', finality + 3)
  await extend([ahead], right)
  await isClean(index)
  await index.processor.kill('SIGTERM')

  await fork.mine(await trafficBranch(other, 'wrong', finality + 3))
  let wrongAnswers = 2
  choose = ([question]) => (question?.method === 'eth_getBlockByNumber' && wrongAnswers-- > 0 ? other : ahead)
  const next = await start(index.database)
  await isClean(next)
  expect(next.processor.output()).toMatch(/does not show block \d+/)
})

/** Mines the same blocks on nodes that are at the same head, so that all hashes agree. */
async function extend(nodes: DevChain[], branch: Branch) {
  for (const node of nodes) await (await forkHere(node)).mine(branch)
}

/** A deterministic random choice; strict alternation would fall in step with the processor's requests. */
function either() {
  let chance = 1
  return () => {
    chance = (chance * 48_271) % 2_147_483_647 // Park and Miller's generator
    return chance % 3 > 0 ? ahead : other
  }
}

async function start(existing?: Awaited<ReturnType<typeof createTestDatabase>>) {
  database = existing ?? (await createTestDatabase())
  if (!existing) onTestFinished(() => database.drop())
  const processor = await startProcessor(ahead, database, { finality, rpc: url })
  onTestFinished(() => processor.stop())
  await processor.untilOutput(/indexing base/)
  return { database, processor }
}

async function isClean(index: Awaited<ReturnType<typeof start>>) {
  await untilSame(index, ahead, await cleanTables(ahead, { finality }), sameSeconds)
}
