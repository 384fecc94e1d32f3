import { createRequire } from 'node:module'
import { type Address, type Hex, pad, parseEther, toHex } from 'viem'
import type { Chain } from '../../config/chains.row.ts'
import { type ChainName, chainOf } from '../../config/chains.ts'
import type { ContractKind } from '../../config/payments.ts'
import { type Contract, compileContracts } from '../contracts/compile.ts'

/** Where everything stands on a local chain: the real addresses of the chain table, the rest at addresses of our own. */
export interface ChainAddresses {
  readonly registry: Address
  readonly reputation: Address
  /** Native USDC; null on a chain without it. */
  readonly token: Address | null
  /** A dollar that also uses up authorizations without paying; listed nowhere unless a test lists it. */
  readonly bridgedToken: Address
  /** A dollar like the native one that no chain table lists. */
  readonly unlistedToken: Address
  /** Keeps a tenth of what is moved, and logs that behind the payment. */
  readonly taxedToken: Address
  /** Answers one to whatever it is asked, and moves nothing. */
  readonly refusingToken: Address
  /** Takes whatever it gets and can call nobody. */
  readonly keeper: Address
  /** Multicall3, at its real address. */
  readonly batcher: Address
  /** Another Multicall3, that the first can pass money on to. */
  readonly secondBatcher: Address
  readonly columnBatcher: Address
  /** Hands its calldata to `token`. */
  readonly forwarder: Address
  readonly puller: Address
  readonly escrow: Address
  /** x402 proxies that pay by Permit2, a fixed amount or up to one; null where the chain table has none. */
  readonly permit2Proxy: Address | null
  readonly uptoProxy: Address | null
  /** Address without code. */
  readonly codelessProxy: Address
  /** Collects deposits for the channels and for escrows. */
  readonly depositCollector: Address
  /** Channels of batch-settlement; null where the chain table has none. */
  readonly channels: Address | null
  /** Escrow of commerce-payments, the newest; null where the chain table has none. */
  readonly commerceEscrow: Address | null
  /** Jobs of ERC-8183; no chain table lists them, as every operator has its own. */
  readonly jobs: Address
  readonly batchRegistrar: Address
  readonly passingRegistrar: Address
  readonly walletFactory: Address
  /** Farcaster's registries; null on every chain but theirs. */
  readonly idRegistry: Address | null
  readonly keyRegistry: Address | null
}

/** The addresses of one chain, lowercase. */
export function addressesOf(name: ChainName): ChainAddresses {
  const { registry, reputation, tokens, paymentContracts, social }: Chain = chainOf(name)
  const contractOf = (kind: ContractKind) =>
    (paymentContracts.find((contract) => contract.kind === kind)?.address ?? null) as Address | null
  return {
    registry: registry.address as Address,
    reputation: reputation.address as Address,
    token: (tokens[0]?.address ?? null) as Address | null,
    bridgedToken: own(1),
    unlistedToken: own(2),
    taxedToken: own(14),
    refusingToken: own(15),
    keeper: own(16),
    batcher: '0xca11bde05977b3631167028862be2a173976ca11',
    secondBatcher: own(10),
    columnBatcher: own(3),
    forwarder: own(4),
    puller: own(5),
    escrow: own(6),
    permit2Proxy: contractOf('permit2_exact'),
    uptoProxy: contractOf('permit2_upto'),
    codelessProxy: own(11),
    depositCollector: own(12),
    channels: contractOf('batch_settlement'),
    commerceEscrow: contractOf('auth_capture'),
    jobs: own(13),
    batchRegistrar: own(7),
    passingRegistrar: own(8),
    walletFactory: own(9),
    idRegistry: (social?.idRegistry ?? null) as Address | null,
    keyRegistry: (social?.keyRegistry ?? null) as Address | null,
  }
}

/** Addresses of the implementations behind the proxies, which have the known addresses, as on the real chains. */
const implementations = { IdentityRegistry: own(100), ReputationRegistry: own(101), token: own(102) }

/** Returns 1, but 0 where the selector is that of transfer(address,uint256). */
const refusing = '0x60003560e01c63a9059cbb14601957600160005260206000f35b60206000f3'
/** Returns 1. */
const keeping = '0x600160005260206000f3'

/** Large enough for 182 registrations in one transaction. */
export const blockGasLimit = 1_000_000_000
/** Balance of every funded account. */
const wealth = parseEther('1000000')
/** keccak-256 of "eip1967.proxy.implementation", minus one. */
const implementationSlot = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'

interface GenesisAccount {
  balance: Hex
  code?: Hex
  storage?: Record<Hex, Hex>
}

interface GenesisOptions {
  /** Unix seconds. */
  readonly timestamp: number
  /** Accounts with native coins to pay gas with. */
  readonly funded: readonly Address[]
}

/** The genesis file of a local chain: real chain id, every contract in place before the first block. */
export async function genesisOf(name: ChainName, { timestamp, funded }: GenesisOptions) {
  const contracts = await compileContracts()
  const proxy: Hex = createRequire(import.meta.url)(
    '@openzeppelin/contracts/build/contracts/ERC1967Proxy.json',
  ).deployedBytecode
  const alloc: Record<Address, GenesisAccount> = {}
  const place = (address: Address, code: Hex, storage?: Record<Hex, Hex>) => {
    alloc[address] = { balance: '0x0', code, storage }
  }
  const runtime = (contract: string) => runtimeOf(contracts, contract)
  const placeBehindProxy = (address: Address, implementation: Address, contract: string) => {
    place(implementation, runtime(contract))
    place(address, proxy, { [implementationSlot]: pad(implementation) })
  }

  const at = addressesOf(name)
  placeBehindProxy(at.registry, implementations.IdentityRegistry, 'IdentityRegistry')
  placeBehindProxy(at.reputation, implementations.ReputationRegistry, 'ReputationRegistry')
  if (at.token) {
    placeBehindProxy(at.token, implementations.token, dollarContracts[dollarName(name)])
    place(at.forwarder, runtime('Forwarder'), { [pad('0x0')]: pad(at.token) })
  }
  place(at.bridgedToken, runtime('BridgedDollar'))
  place(at.unlistedToken, runtime('UsdCoin'))
  place(at.taxedToken, runtime('TaxedToken'))
  place(at.refusingToken, refusing)
  place(at.keeper, keeping)
  place(at.batcher, runtime('Multicall'))
  place(at.secondBatcher, runtime('Multicall'))
  if (at.permit2Proxy) place(at.permit2Proxy, runtime('Permit2Proxy'))
  if (at.uptoProxy) place(at.uptoProxy, runtime('UptoPermit2Proxy'))
  place(at.depositCollector, runtime('DepositCollector'))
  if (at.channels) place(at.channels, runtime('PaymentChannels'))
  if (at.commerceEscrow) place(at.commerceEscrow, runtime('CommerceEscrow'))
  place(at.jobs, runtime('Jobs'))
  place(at.columnBatcher, runtime('ColumnBatcher'))
  place(at.puller, runtime('Puller'))
  place(at.escrow, runtime('Escrow'))
  place(at.batchRegistrar, runtime('BatchRegistrar'))
  place(at.passingRegistrar, runtime('PassingRegistrar'))
  place(at.walletFactory, runtime('WalletFactory'))
  if (at.idRegistry) place(at.idRegistry, runtime('IdRegistry'))
  if (at.keyRegistry) place(at.keyRegistry, runtime('KeyRegistry'))
  for (const account of funded) alloc[account] = { balance: toHex(wealth) }

  return {
    config: { chainId: chainOf(name).id },
    nonce: '0x0',
    timestamp: toHex(timestamp),
    gasLimit: toHex(blockGasLimit),
    difficulty: '0x0',
    alloc,
  }
}

/** EIP-712 name of a chain's native USDC; its version is "2" everywhere. Source: each token's domain on its chain. */
export function dollarName(name: ChainName): 'USD Coin' | 'USDC' {
  return chainOf(name).tokens[0]?.domainName ?? 'USD Coin'
}
const dollarContracts = { 'USD Coin': 'UsdCoin', USDC: 'CeloUsdc' }

function runtimeOf(contracts: Record<string, Contract>, name: string): Hex {
  const contract = contracts[name]
  if (!contract) throw new Error(`devnet/contracts has no contract ${name}`)
  return contract.runtime
}

function own(number: number): Address {
  return `0x00000000000000000000000000000000de7${number.toString().padStart(5, '0')}` as Address
}
