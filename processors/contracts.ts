import type pg from 'pg'
import type { ChainSettings } from '../config/chains.file.ts'
import { inTransaction } from '../db/pool.ts'
import { readChainState } from '../db/queries/chain/chain-state.ts'
import { type IndexedContract, lastTakenBlock, readContracts, writeContracts } from '../db/queries/chain/contracts.ts'
import { markLate } from '../db/queries/chain/payments/late.ts'
import { clipScope } from '../db/queries/chain/scope.ts'
import { Refusal } from '../ops/cli.ts'

/**
 * Records the contracts that a chain is indexed with. Throws a Refusal, with the command that mends it, when a contract
 * other than a payment contract was added or now begins earlier: its events in blocks already indexed would be missing
 * for ever. What a payment contract paid in such blocks is marked to be loaded. Loads by recipient that are beyond these blocks are begun again above them when any contract was added or
 * begins earlier: they had none of its events.
 */
export async function rememberContracts(pool: pg.Pool, chain: ChainSettings): Promise<void> {
  const { name, registry, reputation, tokens, paymentContracts } = chain
  const toContract = ({ address, fromBlock }: IndexedContract): IndexedContract => ({ address, fromBlock })
  const required = [registry, reputation, ...tokens].map(toContract)
  // `directory.coverage` begins at the first block that is stored here, and nobody has read a block below the others.
  const first = Math.min(...required.map(({ fromBlock }) => fromBlock))
  const payments = paymentContracts.map((one) => ({ ...toContract(one), fromBlock: Math.max(one.fromBlock, first) }))
  const contracts = [...required, ...payments]
  await inTransaction(pool, async (db) => {
    const known = new Map((await readContracts(db, name)).map(({ address, fromBlock }) => [address, fromBlock]))
    const isNew = ({ address, fromBlock }: IndexedContract) =>
      fromBlock < (known.get(address) ?? Number.POSITIVE_INFINITY)
    const taken = await lastTakenBlock(db, name)
    const state = await readChainState(db, name)
    const missed = known.size > 0 ? required.filter((one) => one.fromBlock <= taken && isNew(one)) : []
    if (missed.length > 0) {
      const firstLate = Math.min(...missed.map(({ fromBlock }) => fromBlock))
      const target = Math.min(firstLate, state?.finalizedBlock ?? firstLate) - 1
      throw new Refusal(
        `${name} is indexed up to block ${taken} without the events of ${missed.map(({ address }) => address).join(', ')} ` +
          `from block ${firstLate} on; index them with: npm run reset -- --chain ${name} ` +
          (target < 0 ? '--all' : `--to ${target}`),
      )
    }
    if (state && contracts.some(isNew)) await clipScope(db, name, state.indexedBlock)
    await writeContracts(db, name, contracts)
    const added = known.size > 0 ? payments.filter((one) => one.fromBlock <= taken && isNew(one)) : []
    const late = added.map(({ address, fromBlock }) => ({
      address,
      nextBlock: fromBlock,
      toBlock: Math.min(taken, (known.get(address) ?? Number.POSITIVE_INFINITY) - 1),
    }))
    await markLate(db, name, late)
  })
}
