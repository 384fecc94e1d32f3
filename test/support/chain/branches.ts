import type { Address, LocalAccount } from 'viem'
import type { Call, DevChain, SendOptions } from '../../../devnet/chain/chain.ts'

/** One transaction of a block. */
export interface Act {
  readonly from: LocalAccount
  readonly call: Call
  readonly options?: SendOptions
}

/** The transactions of each block, in order. */
export type Branch = readonly (readonly Act[])[]

export interface Fork {
  /**
   * Replaces everything above the fork by these blocks, one per list of transactions. A branch has the same block
   * hashes every time, so a chain can leave it and come back to it.
   */
  mine(branch: Branch): Promise<void>
}

const blockSeconds = 2n
const baseFeePerGas = 1_000_000_000n

/** Marks the chain's head as the fork point that branches start at. From here on only branches mine blocks. */
export async function forkHere(chain: DevChain): Promise<Fork> {
  const { client } = chain
  const { timestamp } = await client.getBlock()
  await client.setAutomine(false)
  let snapshot = await client.snapshot()
  return {
    async mine(branch) {
      await client.revert({ id: snapshot })
      snapshot = await client.snapshot() // a snapshot can be used once
      await client.setNextBlockBaseFeePerGas({ baseFeePerGas }) // the node keeps the fee of the branch it left
      const nonces = new Map<Address, number>() // counted here: asking the node would be half of all requests
      for (const [index, acts] of branch.entries()) {
        for (const { from, call, options } of acts) {
          const { address } = from
          const nonce = nonces.get(address) ?? (await client.getTransactionCount({ address, blockTag: 'pending' }))
          nonces.set(address, nonce + 1)
          await chain.send(from, call, { ...options, nonce })
        }
        await client.setNextBlockTimestamp({ timestamp: timestamp + BigInt(index + 1) * blockSeconds })
        await client.mine({ blocks: 1 })
      }
    },
  }
}
