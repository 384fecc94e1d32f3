import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DevChain, startDevChain } from '../../devnet/chain/chain.ts'
import { type Branch, forkHere } from '../support/chain/branches.ts'
import { type ChainIndex, cleanTables, indexChain, startProcessor, untilSame } from '../support/chain/index-chain.ts'
import { rounds } from '../support/rounds.ts'
import { prepareTraffic, trafficAddresses, trafficBranch } from './traffic.ts'
import { expectDerived } from './traffic-agents.ts'

const genesisTime = 1_770_000_000
/** Blocks; the deepest reorg the processor undoes. */
const finality = 32
/** One block in this many has traffic on a long branch. */
const busyEvery = 6
/** Several processors start one after the other. */
const timeout = 400_000

let chain: DevChain
let index: ChainIndex
beforeAll(async () => {
  chain = await startDevChain('base', { genesisTime, funded: trafficAddresses })
  await prepareTraffic(chain)
  await chain.client.mine({ blocks: finality })
  index = await indexChain(chain, { finality })
  await index.untilHead()
})
afterAll(async () => {
  await index?.close()
  await chain?.stop()
})

/** The shallowest and the deepest first: by default only two are run. */
const reorgs = [
  { depth: 1, longer: 1 },
  // One block more on the other branch would make its first one final, and the way back too deep.
  { depth: finality, longer: 0 },
  { depth: finality - 1, longer: 1 },
  { depth: 5, longer: 1 },
  { depth: 30, longer: 1 },
]

test.each(reorgs.slice(0, rounds(2, 5)))(
  'a reorg of depth $depth and the way back leave what a clean index of the final chain holds',
  { tags: ['rounds'], timeout },
  async ({ depth, longer }) => {
    const fork = await forkHere(chain)
    const here = await thinBranch(`here ${depth}`, depth)
    const there = await thinBranch(`there ${depth}`, depth + longer)
    await fork.mine(here)
    const tip = await chain.client.getBlock()
    await index.untilHead()
    await expectDerived(index.database)

    await fork.mine(there)
    expect((await chain.client.getBlock({ blockNumber: tip.number })).hash).not.toBe(tip.hash)
    await isClean()

    await fork.mine([...here, [], []])
    expect((await chain.client.getBlock({ blockNumber: tip.number })).hash).toBe(tip.hash)
    await isClean()
  },
)

test('a reorg that happens while no processor runs is undone by the next one', { timeout }, async () => {
  const fork = await forkHere(chain)
  await fork.mine(await trafficBranch(chain, 'seen', 5))
  await index.untilHead()
  await index.processor.kill('SIGTERM')
  await fork.mine(await trafficBranch(chain, 'unseen', 6))
  const processor = await startProcessor(chain, index.database, { finality })
  try {
    await isClean(processor)
  } finally {
    await processor.stop()
  }
})

test('a reorg deeper than the finality ends the processor with the command that repairs', { timeout }, async () => {
  const fork = await forkHere(chain)
  const shallow = await indexChain(chain, { finality: 2 })
  try {
    await fork.mine(await trafficBranch(chain, 'final', 5))
    await shallow.untilHead()
    await fork.mine(await trafficBranch(chain, 'deeper', 7))
    expect(await shallow.processor.untilExit()).toBe(1)
    expect(shallow.processor.output()).toMatch(/npm run reset -- --chain base --to \d+/)
  } finally {
    await shallow.close()
  }
})

/** The tables become those of a processor that never saw another branch, and what is derived is of them. */
async function isClean(processor = index.processor) {
  await untilSame({ ...index, processor }, chain, await cleanTables(chain, { finality }))
  await expectDerived(index.database)
}

/** A branch with traffic in every block; a long one has it in every sixth block and in the last. */
function thinBranch(name: string, blocks: number): Promise<Branch> {
  const isBusy = (block: number) => block % busyEvery === 0 || block === blocks - 1
  return trafficBranch(chain, name, blocks, blocks <= busyEvery * 2 ? undefined : isBusy)
}
