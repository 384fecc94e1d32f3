import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'vitest'
import { chains } from '../../config/chains.ts'
import { startDevChain } from '../../devnet/chain/chain.ts'
import { type Branch, forkHere } from '../support/chain/branches.ts'
import { cleanTables, startProcessor, untilSame } from '../support/chain/index-chain.ts'
import type { TestProcessor } from '../support/chain/processor.ts'
import { createTestDatabase } from '../support/database.ts'
import { prepareTraffic, trafficAddresses, trafficBranch } from './traffic.ts'
import { expectDerived } from './traffic-agents.ts'

/** Blocks of a branch that have traffic; the others are empty. */
const busyBlocks = 10
const lookSeconds = 90
/** A fork is seen within a second, and walking back 200 blocks takes longer than this. */
const walkMs = 1_500
const timeout = 400_000

test.each([
  { name: 'polygon', finality: chains.polygon.finalityConfirmation, depth: 210 },
  { name: 'arbitrum', finality: chains.arbitrum.finalityConfirmation, depth: 290 },
])(
  'a fork of $depth blocks, with the finality of $name, survives restarts, and a fork in its middle after one',
  { timeout },
  async ({ finality, depth }) => {
    const chain = await startDevChain('base', { genesisTime: 1_770_000_000, funded: trafficAddresses })
    const database = await createTestDatabase()
    const processors: TestProcessor[] = []
    const restart = async () => {
      await processors.at(-1)?.kill('SIGKILL')
      const processor = await startProcessor(chain, database, { finality })
      processors.push(processor)
      return processor
    }
    const isClean = async (processor: TestProcessor) =>
      untilSame({ database, processor }, chain, await cleanTables(chain, { finality }), lookSeconds)
    try {
      await prepareTraffic(chain)
      await chain.client.mine({ blocks: finality })
      const fork = await forkHere(chain)
      const [here, there, end] = await Promise.all(
        ['here', 'there', 'end'].map((name) => trafficBranch(chain, name, busyBlocks)),
      )
      await fork.mine(spread(here as Branch, depth))
      const first = await restart()
      await first.untilIndexed(Number(await chain.client.getBlockNumber()))

      const other = spread(there as Branch, depth + 2)
      await fork.mine(other)
      await delay(walkMs) // it is on its way back to where the branches part
      await isClean(await restart())

      const again = await restart()
      await again.untilOutput(/using chain RPC data source/)
      // A third branch: the other one up to its middle, then new blocks.
      const kept = other.slice(0, Math.floor(depth / 2))
      await fork.mine([...kept, ...spread((end as Branch).slice(0, 1), depth)])
      await isClean(again)
      await expectDerived(database)
    } finally {
      for (const processor of processors) await processor.stop()
      await database.drop()
      await chain.stop()
    }
  },
)

/** Spreads a branch evenly over `length` blocks, its last block at the end; the blocks between are empty. */
function spread(branch: Branch, length: number): Branch {
  const places = branch.map((_, block) => Math.floor(((block + 1) * length) / branch.length) - 1)
  return Array.from({ length }, (_, block) => branch[places.indexOf(block)] ?? [])
}
