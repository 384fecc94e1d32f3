import { findChain } from '../chains.config.ts'
import type { ChainSettings } from '../chains.file.ts'
import type { Queryable } from '../db/pool.ts'
import { hasChainTables, readChainState } from '../db/queries/chain-state.ts'
import { Refusal } from './refusal.ts'
import type { SdkNode } from './sdk.ts'

/** Throws unless the database is ready for this chain's rows. */
export async function checkDatabase(db: Queryable, chain: ChainSettings): Promise<void> {
  if (!(await hasChainTables(db))) throw new Refusal('the database has no tables yet; run: npm run migrate')
  const state = await readChainState(db, chain.name)
  if (state && state.chainId !== chain.id) {
    throw new Refusal(
      `the database holds ${chain.name} with chain id ${state.chainId}, this program indexes it with ${chain.id}; ` +
        'use another database',
    )
  }
}

/** Throws unless the node is one of this chain. Waits for a node that does not answer. */
export async function checkNode(node: SdkNode, chain: ChainSettings): Promise<void> {
  const id = Number(await node.call<string>('eth_chainId'))
  if (id === chain.id) return
  const other = findChain(String(id))
  throw new Refusal(
    `the RPC endpoint of ${chain.name} answers chain id ${id}${other ? ` (${other})` : ''}, expected ${chain.id}; ` +
      'check the address',
  )
}
