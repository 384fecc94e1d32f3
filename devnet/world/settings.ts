import type { Chain } from '../../config/chains.row.ts'
import { chains, type DefaultChain, defaultChainNames } from '../../config/chains.ts'
import type { DevChain } from '../chain/chain.ts'

/** Blocks that may still be replaced: enough to see hot blocks at work, few enough to see them become final. */
const finality = 5

/**
 * Content of CHAINS_FILE for local chains: their nodes are the only source, everything counts from block 0, registrations
 * from the block after a chain's history.
 */
export function chainSettings(
  running: Readonly<Record<DefaultChain, DevChain>>,
  historyEnds: ReadonlyMap<DefaultChain, number> = new Map(),
) {
  return Object.fromEntries(
    defaultChainNames.map((name) => {
      const { registry, reputation, tokens, paymentContracts, social }: Chain = chains[name]
      const lastBlock = historyEnds.get(name)
      const fromBlock = lastBlock === undefined ? 0 : lastBlock + 1
      const settings = {
        rpc: running[name].rpc,
        portal: null,
        gateway: null,
        finality,
        registry: { address: registry.address, fromBlock },
        reputation: { address: reputation.address, fromBlock },
        tokens: tokens.map(({ address, decimals }) => ({ address, decimals, fromBlock: 0 })),
        paymentContracts: paymentContracts.map(({ kind, address }) => ({
          kind,
          address,
          fromBlock: 0,
          ...(kind === 'auth_capture' ? { collectors: [running[name].addresses.depositCollector] } : {}),
        })),
        ...(social ? { idRegistry: { address: social.idRegistry } } : {}),
      }
      return [name, settings]
    }),
  )
}
