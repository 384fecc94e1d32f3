import { withChosen } from '../../../config/chains.choice.ts'
import { readChains } from '../../../config/chains.file.ts'
import { readyChains } from '../../../config/chains.more.ts'
import { addChains, type ChainName } from '../../../config/chains.ts'

/** What CHAINS_FILE has to state of a ready-made chain of which no source states it; on a local chain any value will do. */
function missing(name: ChainName) {
  const { dataset, explorer } = readyChains[name]!
  const home = 'https://explorer.example'
  const pages = {
    transaction: `${home}/tx/{hash}`,
    address: `${home}/address/{address}`,
    block: `${home}/block/{block}`,
    token: `${home}/nft/{address}/{id}`,
  }
  return { ...(dataset ? {} : { dataset: `${name}-local` }), ...(explorer ? {} : { explorer: pages }) }
}

/**
 * Entry of CHAINS_FILE for a ready-made chain that is local: its node alone, and its registries, tokens and payment contracts
 * from block 0. Without a node the entry is what makes the chain known.
 */
export function readyEntry(name: ChainName, rpc?: string) {
  const { registry, reputation, tokens, paymentContracts } = readyChains[name]!
  const fromBlock = 0
  return {
    ...missing(name),
    ...(rpc === undefined ? {} : { rpc }),
    portal: null,
    finality: 1,
    registry: { ...registry, fromBlock },
    reputation: { ...reputation, fromBlock },
    tokens: tokens.map((token) => ({ ...token, fromBlock })),
    paymentContracts: paymentContracts.map((contract) => ({ ...contract, fromBlock })),
  }
}

/** Adds ready-made chains to this process's table, as `readyEntry` has them. */
export function addReadyChains(names: readonly ChainName[]): void {
  const file = Object.fromEntries(names.map((name) => [name, readyEntry(name, 'http://127.0.0.1:1')]))
  const all = readChains({ env: {}, file: withChosen(names.join(), file) })
  addChains(Object.fromEntries(names.map((name) => [name, { ...all[name]!, rpcVariable: '', gatewayVariable: '' }])))
}
