import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { DevChain } from '../../devnet/chain/chain.ts'
import { growTraffic, trafficBranch } from '../../test/chain/traffic.ts'
import { forkHere } from '../../test/support/chain/branches.ts'

/** Chains that grow and change their minds until they are told to stop. */
interface Heads {
  /** Milliseconds from a block's being there to its rows being read, one a look. */
  readonly delays: readonly number[]
  readonly reorgs: number
  /** Throws when one of them has failed. */
  stop(): Promise<void>
}

const round = { kept: 2, replaced: 3 }
const pollMs = 20
/** Faults keep a block's rows waiting: processes start again ever later. */
const longestMs = 180_000

export function growHeads(chains: readonly DevChain[], pool: pg.Pool): Heads {
  const delays: number[] = []
  let reorgs = 0
  let isOver = false
  const grow = async (chain: DevChain) => {
    let fork = await forkHere(chain)
    for (let n = 0; !isOver; n++) {
      fork = await growTraffic(chain, fork, `round ${n}`, round)
      reorgs++
      delays.push(await untilRows(chain, pool))
    }
    await fork.mine(await trafficBranch(chain, 'at last', round.replaced + 1))
  }
  const all = Promise.all(chains.map(grow))
  all.catch(() => {}) // told by stop
  return {
    delays,
    get reorgs() {
      return reorgs
    },
    async stop() {
      isOver = true
      await all
    },
  }
}

/** Until settlements of the newest block are there; milliseconds. */
async function untilRows({ name, client }: DevChain, pool: pg.Pool): Promise<number> {
  const began = performance.now()
  const { number, transactions } = await client.getBlock()
  const hashes = transactions.map((hash) => Buffer.from(hash.slice(2), 'hex'))
  const text = 'select from settlement where chain = $1 and block_number = $2 and tx_hash = any($3) limit 1'
  while (performance.now() - began < longestMs) {
    // The server is away for a while in between.
    const found = await pool.query(text, [name, Number(number), hashes]).catch(() => undefined)
    if (found?.rowCount) return performance.now() - began
    await delay(pollMs)
  }
  throw new Error(`block ${number} of ${name} has no rows after ${longestMs} ms`)
}
