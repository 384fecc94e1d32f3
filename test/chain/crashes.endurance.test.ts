import { setTimeout as delay } from 'node:timers/promises'
import { keccak256, toBytes } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readChainState } from '../../db/queries/chain/chain-state.ts'
import { type DevChain, startDevChain } from '../../devnet/chain/chain.ts'
import { forkHere } from '../support/chain/branches.ts'
import { cleanTables, startProcessor, untilSame } from '../support/chain/index-chain.ts'
import { createTestDatabase, type OwnDatabase } from '../support/database.ts'
import { growTraffic, prepareTraffic, trafficAddresses, trafficBranch } from './traffic.ts'
import { expectDerived } from './traffic-agents.ts'

const finality = 10 // blocks
/** Kills in each of the two tests. */
const kills = 15
/** When a processor is killed, in turn; the head moves by growing or by a reorg. */
const moments = ['behind the head', 'on the head', 'when the head moves'] as const
/** Most blocks that a processor behind the head may write before it is killed. */
const mostWrites = 3
/** Latest kill, in milliseconds after the blocks above, or after the head is reached: a block takes about as long. */
const latestKillMs = 60
/** Latest kill, in milliseconds after the head begins to move: the processor polls it every second. */
const latestMoveMs = 1_500
const lookMs = 1
/** Milliseconds; 16 processors start one after the other, each in about a second on a quiet machine. */
const timeout = 400_000
const lookSeconds = 60

let chain: DevChain
let database: OwnDatabase
beforeEach(async () => {
  chain = await startDevChain('base', { genesisTime: 1_770_000_000, funded: trafficAddresses })
  database = await createTestDatabase()
  await prepareTraffic(chain)
})
afterEach(async () => {
  await database?.drop()
  await chain?.stop()
})

/** `kept`: blocks that a round adds for good; `replaced`: blocks on top of them, which the next round replaces. */
test.each([
  { chainThat: 'grows', kept: 4, replaced: 0 },
  { chainThat: 'changes its mind', kept: 2, replaced: 3 },
])(
  `a processor killed ${kills} times on a chain that $chainThat leaves what a clean index holds`,
  { timeout },
  async ({ chainThat, kept, replaced }) => {
    const choose = chooserOf(chainThat)
    const shape = { kept, replaced }
    let growth = growTraffic(chain, await forkHere(chain), 'start', shape)
    const growMore = (name: string) => {
      growth = growth.then((tip) => growTraffic(chain, tip, name, shape))
    }
    const killedAt: number[] = []
    for (let round = 0; round < kills; round++) {
      growMore(`round ${round}`)
      const before = await indexedBlock()
      const processor = await startProcessor(chain, database, { finality })
      await processor.untilOutput(/indexing base/)
      const moment = moments[round % moments.length]
      if (moment === 'behind the head') await untilIndexedBeyond(before + choose(mostWrites))
      else {
        await growth
        await processor.untilIndexed(Number(await chain.client.getBlockNumber()))
      }
      if (moment === 'when the head moves') growMore(`under its eyes ${round}`)
      await delay(choose(moment === 'when the head moves' ? latestMoveMs : latestKillMs))
      await processor.kill('SIGKILL')
      await processor.stop()
      killedAt.push((await indexedBlock()) - before)
    }
    const tip = await growth
    await tip.mine(await trafficBranch(chain, 'at last', replaced + 1))

    const processor = await startProcessor(chain, database, { finality })
    try {
      await untilSame({ database, processor }, chain, await cleanTables(chain, { finality }))
      await expectDerived(database)
    } finally {
      await processor.stop()
    }
    expect(killedAt.filter((blocks) => blocks > 0).length, `blocks written: ${killedAt}`).toBeGreaterThan(kills / 3)
  },
)

async function indexedBlock(): Promise<number> {
  return (await readChainState(database.pool, 'base'))?.indexedBlock ?? -1
}

async function untilIndexedBeyond(block: number) {
  for (const deadline = Date.now() + lookSeconds * 1000; Date.now() < deadline; await delay(lookMs)) {
    if ((await indexedBlock()) > block) return
  }
  throw new Error(`nothing above block ${block} was indexed within ${lookSeconds} s`)
}

/** A deterministic random generator, seeded by a text; it returns integers from 0 below a bound. */
function chooserOf(text: string) {
  let choices = 0
  return (below: number) => Number(BigInt(keccak256(toBytes(`${text} ${choices++}`))) % BigInt(below))
}
