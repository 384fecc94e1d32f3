import type { ChainSettings } from '../config/chains.file.ts'
import { findChain } from '../config/chains.ts'
import type { Queryable } from '../db/pool.ts'
import { readArchived } from '../db/queries/chain/archive.ts'
import { hasChainTables, readChainState } from '../db/queries/chain/chain-state.ts'
import { hideAddresses } from '../hosts/host.ts'
import { Refusal } from '../ops/cli.ts'
import type { SdkNode } from './source/sdk.ts'

/** Throws unless the database is ready for this chain's rows. */
export async function checkDatabase(db: Queryable, chain: ChainSettings): Promise<void> {
  if (!(await hasChainTables(db))) throw new Refusal('the database has no tables yet; run: npm run migrate')
  const state = await readChainState(db, chain.name)
  if (state && state.chainId !== chain.id) {
    throw new Refusal(
      `the database holds ${chain.name} with chain id ${state.chainId}, but this program indexes it with ${chain.id}; ` +
        'use another database',
    )
  }
}

/** Throws unless the node reports this chain's id. Waits for a node that does not answer. */
export async function checkNode(node: SdkNode, chain: ChainSettings): Promise<void> {
  const id = Number(await askChainId(node, chain))
  if (id === chain.id) return
  const other = findChain(String(id))
  throw new Refusal(
    `the RPC endpoint of ${chain.name} answers chain id ${id}${other ? ` (${other})` : ''}, expected ${chain.id}; ` +
      'check the address',
  )
}

async function askChainId(node: SdkNode, { name }: ChainSettings): Promise<string> {
  try {
    return await node.call<string>('eth_chainId')
  } catch (error) {
    // The client has retried already. The message can contain the node's address, and the address an API key.
    throw new Refusal(
      `the RPC endpoint of ${name} does not report its chain id: ${hideAddresses((error as Error).message)}`,
    )
  }
}

/**
 * Throws a Refusal when a change to the blocks from `fromBlock` on would concern archived settlements: their rows are
 * not in the database, so they cannot be taken off the sums.
 */
export async function refuseArchived(db: Queryable, { name }: ChainSettings, fromBlock: number): Promise<void> {
  const archived = await readArchived(db, name)
  if (!archived || archived.sealedTo < fromBlock) return
  throw new Refusal(
    `settlements of ${name} are archived up to block ${archived.toBlock}, and sealed up to ${archived.sealedTo}: bring them ` +
      `back first, one partition at a time, with: npm run archive -- --chain ${name} --restore`,
  )
}
