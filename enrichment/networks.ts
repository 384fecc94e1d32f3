import type { Chain } from '../config/chains.row.ts'
import { type ChainName, chainNames, chainOf, findChain } from '../config/chains.ts'

/** A network as a document names it. */
interface Network {
  /** The chain of the table that it means; null: none. */
  readonly chain: ChainName | null
  /** Whether it is one for tests, where money is worth nothing; null: not known. */
  readonly testnet: boolean | null
}

/** Names that only networks for tests have, and their numbers. Sources: the networks' documentation, CAIP-2 of Solana. */
const testNames =
  /sepolia|goerli|holesky|hoodi|amoy|mumbai|fuji|alfajores|baklava|chiado|chapel|testnet|devnet|4uhcvjyu9pjkvqyus88ur|etwtrabzayq6imfeykour/
const testIds = new Set(
  '5 97 300 919 1301 1328 4002 10143 10200 17000 43113 44787 59141 80001 80002 84531 84532 421614 534351 560048 11142220 11155111 11155420 168587773 999999999'.split(
    ' ',
  ),
)

/** Longest name of a network, in characters. */
const longest = 200

/** Reads the name of a network: CAIP-2, a number in either notation, a name with or without "mainnet". */
export function networkOf(text: string): Network {
  if (text.length > longest) return { chain: null, testnet: null }
  const name = text.trim().toLowerCase()
  const bare = name.replace(/^(eip[-_]?155|evm)[:/]/, '')
  const id = /^0x[0-9a-f]{1,8}$/.test(bare) ? String(Number(bare)) : bare
  if (testNames.test(name) || testIds.has(id)) return { chain: null, testnet: true }
  const chain = findChain(id) ?? findChain(id.replace(/[\s_:-]?mainnet$/, '')) ?? byOtherName(id)
  return { chain: chain ?? null, testnet: chain === undefined ? null : false }
}

function byOtherName(text: string): ChainName | undefined {
  const plain = text.replaceAll(/[\s_]/g, '-').replace(/-(mainnet|pos)$/, '')
  return chainNames.find((name) => {
    const { dataset, feedTerm } = chainOf(name)
    return plain === name || plain === feedTerm || text.replaceAll(/[\s_]/g, '-') === dataset
  })
}

/** Identity registry and dollar tokens of each chain. */
export type ChainIdentities = Readonly<Record<ChainName, Pick<Chain, 'id' | 'registry' | 'tokens'>>>

/** CAIP-10 address of a chain's identity registry, lowercase. */
export function registryOf({ id, registry }: Pick<Chain, 'id' | 'registry'>): string {
  return `eip155:${id}:${registry.address}`
}
