import { type Chain, type Explorer, firstPaidBlock, type PaymentContract } from './chains.row.ts'

/**
 * The chain table: one row a chain, every number with its source.
 *
 * Adding a chain means adding a row here, or in the file that CHAINS_FILE names; nothing in the code asks for a chain
 * by name. Rows of the file are known once `addChains` was called, which every main does first: what is made of the
 * table has to be made inside functions, not while modules are loaded.
 *
 * Sources, named in the rows by their letter:
 *  A  erc-8004/erc-8004-contracts, README: registry addresses, the same CREATE2 proxies on every chain
 *  B  public census of the identity proxy: no code at N-1, 130 bytes of code at N (2026-08-04)
 *  C  Circle, "USDC on other blockchains": native USDC addresses
 *  D  block of the token's deployment as several public indexers list it
 *  F  our proposal after each network's documented reorg history; blocks, not seconds
 *  P  SQD Network's list of Portal datasets
 *  N  farcasterxyz/snapchain, the block its nodes read the registries from
 *  S  farcasterxyz/contracts, README: registries on OP Mainnet
 *  U  x402-foundation/x402, contracts/evm: Permit2 proxies, the same CREATE2 addresses on every chain; anybody may deploy
 *     them, and on 2026-02-23 they were in audit still: no registry is younger
 *  H  x402-foundation/x402, contracts/evm and its deployment records: the channels of batch-settlement, the same CREATE2
 *     address on every chain, audited in May 2026
 *  E  base/commerce-payments, README: both escrows, on Base only; the first audit is of 2025-04-01, and no deployment is
 *     older
 *  X  each network's documentation: its block explorer; all are of the Etherscan family and share their paths
 */

/** Proxy of the ERC-8004 IdentityRegistry, the same on every chain. */
export const identityRegistry = '0x8004a169fb4a3325136eb29fa0ceb6d2e539a432' // A
/** Proxy of the ERC-8004 ReputationRegistry, the same on every chain. */
export const reputationRegistry = '0x8004baa17c55a88189ae136b182e5fda19de9b63' // A

/** The x402 contracts of a chain that pay or hold money, read from a block on. Sources U and H. */
export function x402Contracts(fromBlock: number): readonly PaymentContract[] {
  return [
    { kind: 'permit2_exact', address: '0x402085c248eea27d92e8b30b2c58ed07f9e20001', fromBlock },
    { kind: 'permit2_upto', address: '0x4020a4f3b7b90cca423b9fabcc0ce57c6c240002', fromBlock },
    { kind: 'batch_settlement', address: '0x4020074e9df2ce1dee5a9c1b5c3f541d02a10003', fromBlock },
  ]
}

/**
 * The escrows of commerce-payments, whose captures are payments, each with its collectors: by EIP-3009, by Permit2, of what
 * was approved before, and by spend permissions. Source E.
 */
function commerceEscrows(fromBlock: number): readonly PaymentContract[] {
  const newest = [
    '0x8612dfdc421f80336cd14e8ef9cb1e765db5ab88',
    '0xd69831aed5bfe262067ec4c751f4f830ecdd446e',
    '0xf1f9c408c787b2bc6caeb91e5bbec434a5c8d2ea',
    '0xb508c1c0a13849693dc175307667653c5977a408',
  ]
  const first = [
    '0x0e3df9510de65469c4518d7843919c0b8c7a7757',
    '0x992476b9ee81d52a5bda0622c333938d0af0ab26',
    '0x1b77abd71fcd21fbe2398ae821aa27d1e6b94bc6',
    '0x8d9f34934dc9619e5dc3df27d0a40b4a744e7eaa',
  ]
  const escrow = { kind: 'auth_capture', fromBlock } as const
  return [
    { ...escrow, address: '0xf96815976523e00e65be8f34ca5e64b4f41eb19c', collectors: newest }, // 1.1
    { ...escrow, address: '0xbdea0d1bcc5966192b070fdf62ab4ef5b4420cff', collectors: first }, // 1.0
  ]
}

/** Pages of an explorer of the Etherscan family. */
export function etherscan(home: string): Explorer {
  return {
    transaction: `${home}/tx/{hash}`,
    address: `${home}/address/{address}`,
    block: `${home}/block/{block}`,
    token: `${home}/nft/{address}/{id}`,
  }
}

/** Rows of the chains that are built in, in the order in which every list shows chains. */
const defaults = {
  ethereum: {
    id: 1,
    label: 'Eth',
    feedTerm: 'eth',
    dataset: 'ethereum-mainnet', // P
    hasTraces: true, // P
    rpcVariable: 'RPC_ETHEREUM',
    gatewayVariable: 'GATEWAY_ETHEREUM',
    finalityConfirmation: 75, // F: two epochs and a margin
    registry: { address: identityRegistry, fromBlock: 24339871 }, // A, B: 2026-01-29 10:20:23 UTC
    reputation: { address: reputationRegistry, fromBlock: 24339871 }, // A, B
    tokens: [
      // C. Deployed at 6082465 (D), but EIP-3009 came with FiatToken 2.0, released 2020-07-30: July 2020 is early enough.
      { address: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', decimals: 6, fromBlock: 10500000 },
    ],
    paymentContracts: x402Contracts(24339871), // U
    partitions: { blocks: 1_000_000, oneBelow: 22_000_000 }, // of 12 seconds; from May 2025
    explorer: etherscan('https://etherscan.io'), // X
    hue: '#7a86d8',
    social: null,
  },
  base: {
    id: 8453,
    label: 'Base',
    feedTerm: 'base',
    dataset: 'base-mainnet', // P
    hasTraces: true, // P
    rpcVariable: 'RPC_BASE',
    gatewayVariable: 'GATEWAY_BASE',
    finalityConfirmation: 60, // F: two minutes
    registry: { address: identityRegistry, fromBlock: 41663783 }, // A, B: 2026-02-03 11:08:33 UTC
    reputation: { address: reputationRegistry, fromBlock: 41663783 }, // A, B
    tokens: [{ address: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', decimals: 6, fromBlock: 2797221 }], // C, D
    paymentContracts: [...x402Contracts(42507726), ...commerceEscrows(28338126)], // U: 2026-02-23; E: 2025-04-01
    // At 100,000 settlements an hour 1,000,000 blocks of two seconds are 55 million rows: three weeks. The other chains have
    // less in half a year. Below 30,000,000, of May 2025, almost nobody paid with signatures.
    partitions: { blocks: 1_000_000, oneBelow: 30_000_000 },
    explorer: etherscan('https://basescan.org'), // X
    hue: '#2f6bff',
    social: null,
  },
  celo: {
    id: 42220,
    label: 'Celo',
    feedTerm: 'celo',
    dataset: 'celo-mainnet', // P
    hasTraces: false, // P: logs and transactions only
    rpcVariable: 'RPC_CELO',
    gatewayVariable: 'GATEWAY_CELO',
    finalityConfirmation: 60, // F: one minute since the move to an OP-stack L2
    registry: { address: identityRegistry, fromBlock: 58396724 }, // A, B: 2026-02-05 13:30:24 UTC, computed
    reputation: { address: reputationRegistry, fromBlock: 58396724 }, // A, B
    // C. No source names the deployment block; 23000000 is 2023-12-15, before the token existed.
    tokens: [
      { address: '0xceba9300f2b948710d2653dd7b07f33a8b32118c', decimals: 6, fromBlock: 23000000, domainName: 'USDC' },
    ],
    paymentContracts: x402Contracts(58396724), // U
    partitions: { blocks: 15_000_000, oneBelow: 35_000_000 }, // of a second; from May 2025
    explorer: etherscan('https://celoscan.io'), // X
    hue: '#d9b400',
    social: null,
  },
  arbitrum: {
    id: 42161,
    label: 'Arb',
    feedTerm: 'arb',
    dataset: 'arbitrum-one', // P
    hasTraces: true, // P
    rpcVariable: 'RPC_ARBITRUM',
    gatewayVariable: 'GATEWAY_ARBITRUM',
    finalityConfirmation: 300, // F: about 75 seconds at four blocks a second
    registry: { address: identityRegistry, fromBlock: 428895443 }, // A, B
    reputation: { address: reputationRegistry, fromBlock: 428895443 }, // A, B
    tokens: [{ address: '0xaf88d065e77c8cc2239327c5edb3a432268e5831', decimals: 6, fromBlock: 34266938 }], // C, D
    paymentContracts: x402Contracts(428895443), // U
    partitions: { blocks: 60_000_000, oneBelow: 330_000_000 }, // of a quarter of a second; from May 2025
    explorer: etherscan('https://arbiscan.io'), // X
    hue: '#2ba3dc',
    social: null,
  },
  optimism: {
    id: 10,
    label: 'OP',
    feedTerm: 'op',
    dataset: 'optimism-mainnet', // P
    hasTraces: true, // P
    rpcVariable: 'RPC_OPTIMISM',
    gatewayVariable: 'GATEWAY_OPTIMISM',
    finalityConfirmation: 60, // F: two minutes
    registry: { address: identityRegistry, fromBlock: 147514947 }, // A, B: 2026-02-09 09:17:51 UTC, computed
    reputation: { address: reputationRegistry, fromBlock: 147514947 }, // A, B
    tokens: [{ address: '0x0b2c639c533813f4aa9d7837caf62653d097ff85', decimals: 6, fromBlock: 38198364 }], // C, D: one list
    paymentContracts: x402Contracts(147514947), // U
    partitions: { blocks: 8_000_000, oneBelow: 135_000_000 }, // of two seconds; from May 2025
    explorer: etherscan('https://optimistic.etherscan.io'), // X
    hue: '#e5383b',
    social: {
      idRegistry: '0x00000000fc6c5f01fc30151999387bb99a9f489b', // S
      keyRegistry: '0x00000000fc1237824fb747abde0ff18990e59b7e', // S
      fromBlock: 108864739, // N: 2023-08-29, from which the network's own nodes read them
    },
  },
  polygon: {
    id: 137,
    label: 'Poly',
    feedTerm: 'poly',
    dataset: 'polygon-mainnet', // P
    hasTraces: true, // P
    rpcVariable: 'RPC_POLYGON',
    gatewayVariable: 'GATEWAY_POLYGON',
    finalityConfirmation: 256, // F: reorgs of more than 100 blocks have happened
    registry: { address: identityRegistry, fromBlock: 82458484 }, // A, B: 2026-02-02
    reputation: { address: reputationRegistry, fromBlock: 82458484 }, // A, B
    tokens: [{ address: '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359', decimals: 6, fromBlock: 45319261 }], // C, D
    paymentContracts: x402Contracts(82458484), // U
    partitions: { blocks: 8_000_000, oneBelow: 70_000_000 }, // of two seconds; from May 2025
    explorer: etherscan('https://polygonscan.com'), // X
    hue: '#8a4fe8',
    social: null,
  },
  gnosis: {
    id: 100,
    label: 'Gnosis',
    feedTerm: 'gnosis',
    dataset: 'gnosis-mainnet', // P
    hasTraces: true, // P
    rpcVariable: 'RPC_GNOSIS',
    gatewayVariable: 'GATEWAY_GNOSIS',
    finalityConfirmation: 40, // F: about three minutes
    registry: { address: identityRegistry, fromBlock: 44505010 }, // A, B
    reputation: { address: reputationRegistry, fromBlock: 44505010 }, // A, B
    tokens: [], // no native USDC: registrations only
    paymentContracts: [],
    partitions: { blocks: 3_000_000, oneBelow: 39_000_000 }, // of five seconds
    explorer: etherscan('https://gnosisscan.io'), // X
    hue: '#3b9173',
    social: null,
  },
} as const satisfies Record<string, Chain>

/** A chain whose row stands in this file. */
export type DefaultChain = keyof typeof defaults

/** Value of every `chain` column and of `chain` in API rows: a key of the table, which grows with CHAINS_FILE. */
export type ChainName = string

/** Row of every chain this process knows, by chain name: the built-in rows and those of CHAINS_FILE. */
export const chains: Readonly<Record<DefaultChain, Chain>> & Readonly<Record<ChainName, Chain>> = { ...defaults }

/** Names of all chains in the table's order, those of CHAINS_FILE last. `addChains` extends this same array. */
export const chainNames: readonly ChainName[] = Object.keys(chains)

/** The chain with most settlements. */
export const busiestChain = 'base' satisfies DefaultChain

/** Names of the chains whose rows stand in this file, in its order. */
export const defaultChainNames = Object.keys(defaults) as readonly DefaultChain[]

/** Whether a chain's row stands in this file. */
export const isDefaultChain = (name: string): name is DefaultChain => Object.hasOwn(defaults, name)

/** A chain's row. Throws when there is no such chain. */
export function chainOf(name: ChainName): Chain {
  const row = Object.hasOwn(chains, name) ? chains[name] : undefined
  if (!row) throw new Error(`${name} is not a chain; chains are ${chainNames.join(', ')}`)
  return row
}

/** Names of the chains whose settlements are indexed, or payments of contracts alone: these are rolled up and audited too. */
export const settlementChains = () => chainNames.filter((name) => firstPaidBlock(chainOf(name)) !== null)

/** The one chain that has the social network's contracts, with its name. Throws when no row of the table has them. */
export function socialChain(): Chain & { readonly name: ChainName; readonly social: NonNullable<Chain['social']> } {
  for (const name of chainNames) {
    const row = chainOf(name)
    if (row.social) return { ...row, name, social: row.social }
  }
  throw new Error('no chain of the table has the social network’s contracts')
}

/**
 * Adds the rows of CHAINS_FILE to this process's table. Call it at start-up, before anything is derived from the table.
 * Throws when a name is that of a built-in chain; an added row of the same name is replaced.
 */
export function addChains(rows: Readonly<Record<ChainName, Chain>>): void {
  for (const [name, row] of Object.entries(rows)) {
    if (isDefaultChain(name)) throw new Error(`${name} is in the table already`)
    if (!Object.hasOwn(chains, name)) (chainNames as ChainName[]).push(name)
    Object.assign(chains, { [name]: row })
  }
}

/** Has this process know other facts of a chain, as CHAINS_FILE says. Call it with `addChains`. */
export function amendChain(
  name: ChainName,
  facts: Partial<Pick<Chain, 'partitions' | 'tokens' | 'paymentContracts'>>,
): void {
  Object.assign(chains, { [name]: { ...chainOf(name), ...facts } })
}

/** Name of the chain with this name, label or chain id, in any letter case; undefined: there is no such chain. */
export function findChain(text: string): ChainName | undefined {
  const wanted = text.trim().toLowerCase()
  return chainNames.find((name) => {
    const { id, label } = chainOf(name)
    return wanted === name || wanted === label.toLowerCase() || wanted === String(id)
  })
}
