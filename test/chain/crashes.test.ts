import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readChainState } from '../../db/queries/chain-state.ts'
import { type DevChain, startDevChain } from '../../devnet/chain.ts'
import { type Fork, forkHere } from '../tools/branches.ts'
import { cleanTables, startProcessor, untilSame } from '../tools/chain-index.ts'
import { createTestDatabase, type TestDatabase } from '../tools/database.ts'
import { prepareTraffic, trafficAddresses, trafficBranch } from './traffic.ts'

const finality = 10 // blocks
/** How many blocks a processor may write before it is killed, round by round: none, some, all there are. */
const writesAllowed = [0, 1, 4, 9, 14]
/** Blocks a round adds for good, and blocks on top that the next round replaces. */
const settledBlocks = 10
const replacedBlocks = 4
const lookMs = 1
/** Six processors start one after the other. */
const timeout = 240_000
const lookSeconds = 30

let chain: DevChain
let database: TestDatabase
beforeAll(async () => {
  chain = await startDevChain('base', { genesisTime: 1_770_000_000, funded: trafficAddresses })
  database = await createTestDatabase()
  await prepareTraffic(chain)
})
afterAll(async () => {
  await database?.drop()
  await chain?.stop()
})

test('a processor killed again and again, under growth and reorgs, leaves what a clean index holds', {
  timeout,
}, async () => {
  let tip: Fork = await forkHere(chain)
  const killedAt: number[] = []
  for (const [round, allowed] of writesAllowed.entries()) {
    tip = await grow(tip, round)
    const before = await indexedBlock()
    const processor = await startProcessor(chain, database, { finality })
    await processor.untilOutput(/indexing base/)
    if (allowed > 0) await untilIndexedBeyond(before + allowed - 1)
    await processor.kill('SIGKILL')
    await processor.stop()
    killedAt.push((await indexedBlock()) - before)
  }
  await tip.mine(await trafficBranch(chain, 'at last', replacedBlocks + 1))

  const processor = await startProcessor(chain, database, { finality })
  try {
    await untilSame({ database, processor }, chain, await cleanTables(chain, { finality }))
  } finally {
    await processor.stop()
  }
  expect(
    killedAt.some((blocks) => blocks > 0 && blocks < settledBlocks),
    `killed after ${killedAt} blocks`,
  ).toBe(true)
})

/** Replaces the blocks that the round before put on top, and adds some of its own; resolves with the new fork. */
async function grow(tip: Fork, round: number): Promise<Fork> {
  await tip.mine(await trafficBranch(chain, `kept ${round}`, replacedBlocks + 1))
  const kept = await forkHere(chain)
  await kept.mine(await trafficBranch(chain, `settled ${round}`, settledBlocks - replacedBlocks - 1))
  const settled = await forkHere(chain)
  await settled.mine(await trafficBranch(chain, `replaced ${round}`, replacedBlocks))
  return settled
}

async function indexedBlock(): Promise<number> {
  return (await readChainState(database.pool, 'base'))?.indexedBlock ?? -1
}

async function untilIndexedBeyond(block: number) {
  for (const deadline = Date.now() + lookSeconds * 1000; Date.now() < deadline; await delay(lookMs)) {
    if ((await indexedBlock()) > block) return
  }
  throw new Error(`nothing above block ${block} was indexed within ${lookSeconds} s`)
}
