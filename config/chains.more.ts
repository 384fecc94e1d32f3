import type { Explorer, Token } from './chains.row.ts'
import { etherscan, identityRegistry, reputationRegistry, x402Contracts } from './chains.ts'

/**
 * Chains that are ready to be indexed and off until CHAINS names them: the other mainnets on which ERC-8004 stands by the
 * README of erc-8004/erc-8004-contracts. A number that no source known to us states is null, and a chain with one is
 * refused unless CHAINS_FILE states it. Nothing here is guessed.
 *
 * Sources, named in the rows by their letter; those of config/chains.ts keep theirs:
 *  A  erc-8004/erc-8004-contracts, scripts/addresses.ts: chain ids; README: the registries' proxies, the same everywhere
 *  B  public census of the identity proxy: no code at N-1, 130 bytes of code at N (2026-08-04)
 *  G  agent0lab/subgraph, config/networks: block of the upgrade to the implementation, before which nobody registers
 *  K  smartcontractkit/chainlink and chainlink-evm, default configurations: FinalityDepth
 *  L  first blocks of another directory's configuration; where B or G has the chain as well, these lie between the
 *     proxy's deployment and the upgrade, so they are no later than the first registration
 *  M  docs.monad.xyz, Block States: a block is final when two more were built on it
 *  O  monad-crypto/token-list, mainnet: AUSD of 6 decimals, at one address on its chains
 *  Q  subsquid/cdn: metadata.yml of the datasets with their tables, finality-confirmations.json
 *  T  several token lists of exchanges and wallets that agree: address and decimals
 *  U  UltravioletaDAO/x402-rs 1.52.0, supported_tokens.json: tokens that this facilitator settles by EIP-3009
 *  V  viem 2.57, chain definitions: chain ids, explorers
 *  W  x402-foundation/x402, default assets of the SDK, and whether each is paid by EIP-3009 or by Permit2
 *
 * Tokens are asked for from block 0: no source names their deployments, and no payment can be missed that way. A token that
 * takes no EIP-3009 settles nothing and is asked for from the registries' block; payments in it by Permit2, channels and
 * escrows are dollars.
 */
export interface ReadyChain {
  readonly id: number
  readonly label: string
  readonly feedTerm: string
  readonly dataset: string | null
  readonly hasTraces: boolean
  /** Blocks below the head that may still be replaced. */
  readonly finality: number | null
  readonly registry: ReadyContract
  readonly reputation: ReadyContract
  readonly tokens: readonly Token[]
  readonly paymentContracts: ReturnType<typeof x402Contracts>
  readonly explorer: Explorer | null
  readonly hue: string
}

interface ReadyContract {
  readonly address: string
  readonly fromBlock: number | null
}

/** AUSD has the same address on all its chains. Sources U and O. */
const ausd: Token = { address: '0x00000000efe302beaa2b3e6e1b18d08d69a9012a', decimals: 6, fromBlock: 0, symbol: 'AUSD' }

/** Both registries and the x402 contracts from a block on, and the dollars there. */
function standing(fromBlock: number | null, tokens: readonly Token[] = []) {
  return {
    registry: { address: identityRegistry, fromBlock }, // A
    reputation: { address: reputationRegistry, fromBlock }, // A
    tokens,
    paymentContracts: fromBlock === null ? [] : x402Contracts(fromBlock),
  }
}

/** Pages of an explorer that runs Blockscout. */
function blockscout(home: string): Explorer {
  return { ...etherscan(home), token: `${home}/token/{address}/instance/{id}` }
}

/** Rows of the ready-made chains by name, in the order in which lists show them. */
export const readyChains: Readonly<Record<string, ReadyChain>> = {
  bsc: {
    id: 56, // A
    label: 'BSC',
    feedTerm: 'bsc',
    dataset: 'binance-mainnet', // Q
    hasTraces: true, // Q
    finality: 15, // Q
    // B
    ...standing(79027268, [
      // T. Bridged. Whether it takes EIP-3009 no source says.
      { address: '0x8ac76a51cc950d9822d68b83fe1ad97b32cd580d', decimals: 18, fromBlock: 0 },
      ausd,
    ]),
    explorer: etherscan('https://bscscan.com'), // V
    hue: '#d6a400',
  },
  monad: {
    id: 143, // A
    label: 'Monad',
    feedTerm: 'monad',
    dataset: 'monad-mainnet', // Q
    hasTraces: false, // Q
    finality: 2, // M
    // L; 108 blocks before G's
    ...standing(52952790, [
      { address: '0x754704bc059f8c67012fed69bc8a327a5aafb603', decimals: 6, fromBlock: 0, domainName: 'USDC' }, // W
      { address: '0xe7cd86e13ac4309349f30b3435a9d337750fc82d', decimals: 6, fromBlock: 0, symbol: 'USDT0' }, // U
      ausd,
    ]),
    explorer: etherscan('https://monadscan.com'), // V
    hue: '#836ef9',
  },
  avalanche: {
    id: 43114, // A
    label: 'Avax',
    feedTerm: 'avax',
    dataset: 'avalanche-mainnet', // Q
    hasTraces: true, // Q
    finality: 5, // Q
    ...standing(77389000, [
      { address: '0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e', decimals: 6, fromBlock: 0 }, // U, C
      ausd,
    ]), // L
    explorer: etherscan('https://snowscan.xyz'), // L
    hue: '#f06a5e',
  },
  linea: {
    id: 59144, // A
    label: 'Linea',
    feedTerm: 'linea',
    dataset: 'linea-mainnet', // Q
    hasTraces: true, // Q
    finality: 64, // Q
    ...standing(28662553, [
      // T. Whether it takes EIP-3009 no source says.
      { address: '0x176211869ca2b568f2a7d4ee941e073a821ee1ff', decimals: 6, fromBlock: 0 },
    ]), // L
    explorer: etherscan('https://lineascan.build'), // V
    hue: '#4fb7c4',
  },
  scroll: {
    id: 534352, // A
    label: 'Scroll',
    feedTerm: 'scroll',
    dataset: 'scroll-mainnet', // Q
    hasTraces: true, // Q
    finality: 10, // K
    ...standing(29432417, [
      { address: '0x06efdbff2a14a7c8e15944d1f4a48f9f95f663a4', decimals: 6, fromBlock: 0 }, // U
    ]), // L
    explorer: etherscan('https://scrollscan.com'), // V
    hue: '#e0a878',
  },
  megaeth: {
    id: 4326, // A
    label: 'MegaETH',
    feedTerm: 'megaeth',
    dataset: 'megaeth-mainnet', // Q
    hasTraces: false, // Q
    finality: null,
    // B
    ...standing(7833805, [
      // W. Without EIP-3009.
      { address: '0xfafddbb3fc7688494971a79cc65dca3ef82079e7', decimals: 18, fromBlock: 7833805, symbol: 'USDM' },
    ]),
    explorer: etherscan('https://mega.etherscan.io'), // V
    hue: '#b08e9c',
  },
  abstract: {
    id: 2741, // A
    label: 'Abstract',
    feedTerm: 'abstract',
    dataset: 'abstract-mainnet', // Q
    hasTraces: false, // Q
    finality: null,
    ...standing(39596871), // L
    explorer: etherscan('https://abscan.org'), // V
    hue: '#3fd08a',
  },
  mantle: {
    id: 5000, // A
    label: 'Mantle',
    feedTerm: 'mantle',
    dataset: 'mantle-mainnet', // Q
    hasTraces: false, // Q
    finality: 100, // Q
    ...standing(91333846), // L
    explorer: etherscan('https://mantlescan.xyz'), // V
    hue: '#6fa7a0',
  },
  soneium: {
    id: 1868, // A
    label: 'Soneium',
    feedTerm: 'soneium',
    dataset: 'soneium-mainnet', // Q
    hasTraces: false, // Q
    finality: 200, // K
    ...standing(19710954), // L
    explorer: blockscout('https://soneium.blockscout.com'), // V
    hue: '#9a9fb5',
  },
  taiko: {
    id: 167000, // A
    label: 'Taiko',
    feedTerm: 'taiko',
    dataset: 'taiko-mainnet', // Q
    hasTraces: false, // Q
    finality: 10, // Q
    ...standing(4305747), // L
    explorer: etherscan('https://taikoscan.io'), // V
    hue: '#e8459c',
  },
  xlayer: {
    id: 196, // A
    label: 'X Layer',
    feedTerm: 'xlayer',
    dataset: 'xlayer-mainnet', // Q
    hasTraces: false, // Q
    finality: 120, // Q
    ...standing(51947237), // B
    // V. Of a token it has the contract's page alone, which leaves the number unread.
    explorer: {
      ...etherscan('https://www.oklink.com/xlayer'),
      token: 'https://www.oklink.com/xlayer/token/{address}?id={id}',
    },
    hue: '#8b9a46',
  },
  metis: {
    id: 1088, // A
    label: 'Metis',
    feedTerm: 'metis',
    dataset: 'metis-mainnet', // Q
    hasTraces: true, // Q
    finality: 500, // K: set after a finding that the depth varies much
    ...standing(22161525), // L
    explorer: blockscout('https://andromeda-explorer.metis.io'), // L
    hue: '#2fc7c0',
  },
  goat: {
    id: 2345, // A
    label: 'GOAT',
    feedTerm: 'goat',
    dataset: null,
    hasTraces: false,
    finality: null,
    ...standing(10129146), // L
    explorer: blockscout('https://explorer.goat.network'), // V
    hue: '#c2b280',
  },
  skale: {
    id: 1187947933, // A: SKALE Base
    label: 'SKALE',
    feedTerm: 'skale',
    dataset: null,
    hasTraces: false,
    finality: null,
    ...standing(689195, [
      { address: '0x85889c8c714505e0c94b30fcfcf64fe3ac8fcb20', decimals: 6, fromBlock: 0 }, // U
    ]), // L
    explorer: blockscout('https://skale-base-explorer.skalenodes.com'), // V
    hue: '#7b7b8c',
  },
  robinhood: {
    id: 4663, // V
    label: 'Robinhood',
    feedTerm: 'robinhood',
    dataset: null,
    hasTraces: false,
    finality: null,
    ...standing(12058809, [
      { address: '0x5fc5360d0400a0fd4f2af552add042d716f1d168', decimals: 6, fromBlock: 0, symbol: 'USDG' }, // U
    ]), // B
    explorer: blockscout('https://robinhoodchain.blockscout.com'), // V
    hue: '#a8c23a',
  },
  billions: {
    id: 45056, // B
    label: 'Billions',
    feedTerm: 'billions',
    dataset: null,
    hasTraces: false,
    finality: null,
    ...standing(4915296), // B
    explorer: null,
    hue: '#5d7fbf',
  },
  injective: {
    id: 1776, // V
    label: 'Injective',
    feedTerm: 'injective',
    dataset: null,
    hasTraces: false,
    finality: null,
    ...standing(null),
    explorer: blockscout('https://blockscout.injective.network'), // V
    hue: '#1fa2ff',
  },
  zerog: {
    id: 16661, // V: 0G
    label: '0G',
    feedTerm: '0g',
    dataset: null,
    hasTraces: false,
    finality: null,
    ...standing(null),
    explorer: etherscan('https://chainscan.0g.ai'), // V
    hue: '#b56fe0',
  },
}
