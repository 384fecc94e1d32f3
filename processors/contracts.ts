import type { ChainSettings } from '../chains.file.ts'
import type { Queryable } from '../db/pool.ts'
import { readChainState } from '../db/queries/chain/chain-state.ts'
import { type IndexedContract, lastTakenBlock, readContracts, writeContracts } from '../db/queries/chain/contracts.ts'
import { Refusal } from './refusal.ts'

/**
 * Records the contracts that a chain is indexed with. Throws a Refusal, with the command that mends it, when a contract
 * was added or now begins earlier: its events in blocks already indexed would be missing for ever.
 */
export async function rememberContracts(db: Queryable, chain: ChainSettings): Promise<void> {
  const { name, registry, reputation, tokens } = chain
  const contracts: IndexedContract[] = [registry, reputation, ...tokens].map(({ address, fromBlock }) => ({
    address,
    fromBlock,
  }))
  const known = new Map((await readContracts(db, name)).map(({ address, fromBlock }) => [address, fromBlock]))
  const taken = await lastTakenBlock(db, name)
  const late = contracts.filter(
    ({ address, fromBlock }) =>
      known.size > 0 && fromBlock <= taken && fromBlock < (known.get(address) ?? Number.POSITIVE_INFINITY),
  )
  if (late.length === 0) return writeContracts(db, name, contracts)
  const first = Math.min(...late.map(({ fromBlock }) => fromBlock))
  const finalized = (await readChainState(db, name))?.finalizedBlock ?? first
  const target = Math.min(first, finalized) - 1
  throw new Refusal(
    `${name} is indexed up to block ${taken} without the events of ${late.map(({ address }) => address).join(', ')} from ` +
      `block ${first} on; index them with: npm run reset -- --chain ${name} ${target < 0 ? '--all' : `--to ${target}`}`,
  )
}
