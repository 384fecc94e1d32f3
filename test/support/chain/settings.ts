import type { PaymentContract } from '../../../config/chains.row.ts'
import { chainOf } from '../../../config/chains.ts'
import { type ContractKind, contractKinds } from '../../../config/payments.ts'
import type { DevChain } from '../../../devnet/chain/chain.ts'

export interface SettingsOptions {
  /** Blocks below the head that may still be replaced. */
  readonly finality?: number
  /** JSON-RPC address, when it is not the node's own; null: history only. */
  readonly rpc?: string | null
  /** URL of a Portal. Default: none. */
  readonly portal?: string
  /** URL of a v2 archive. Default: none. */
  readonly gateway?: string
  /** First block of its contracts. Default: 0. */
  readonly fromBlock?: number
  /** Kinds of its payment contracts. Default: all. */
  readonly kinds?: readonly ContractKind[]
  /** Decimals of its tokens. Default: 6. */
  readonly decimals?: number
}

/** Content of CHAINS_FILE for a local chain. Default: RPC alone, from block 0, with the bridged dollar listed too. */
export function chainSettings(
  { name, rpc, addresses }: DevChain,
  { finality = 3, fromBlock = 0, decimals = 6, kinds = contractKinds, ...sources }: SettingsOptions = {},
) {
  const { registry, reputation, token, bridgedToken, idRegistry } = addresses
  const tokens = token ? [token, bridgedToken] : []
  const contracts: readonly PaymentContract[] = [
    ...chainOf(name).paymentContracts.map((contract) => ({
      ...contract,
      fromBlock,
      ...(contract.kind === 'auth_capture' ? { collectors: [addresses.depositCollector] } : {}),
    })),
    ...(token
      ? [
          { kind: 'permit2_exact' as const, address: addresses.codelessProxy, fromBlock },
          { kind: 'jobs' as const, address: addresses.jobs, fromBlock },
        ]
      : []),
  ]
  const row = {
    rpc,
    portal: null,
    gateway: null,
    ...sources,
    finality,
    registry: { address: registry, fromBlock },
    reputation: { address: reputation, fromBlock },
    tokens: tokens.map((address) => ({ address, decimals, fromBlock })),
    paymentContracts: contracts.filter(({ kind }) => kinds.includes(kind)),
    ...(idRegistry ? { idRegistry: { address: idRegistry } } : {}),
  }
  return { [name]: row }
}
