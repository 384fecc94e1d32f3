// What the chain table says of a chain.

/** A contract and the first block worth asking for its logs. */
interface ContractAddress {
  /** Lowercase hex, 20 bytes. */
  readonly address: string
  /** First block, inclusive. Never above the contract's first event. */
  readonly fromBlock: number
}

/** A dollar token with EIP-3009 transfers. */
interface Token extends ContractAddress {
  /** Base units are 10^-decimals dollars. Always 6: amounts are kept as integer millionths of a dollar. */
  readonly decimals: 6
  /** Name in its EIP-712 domain, where it is not USD Coin. */
  readonly domainName?: 'USDC'
}

/** Kinds of payments that contracts settle by themselves, otherwise than by EIP-3009. */
export const contractKinds = ['permit2_exact', 'permit2_upto'] as const
export type ContractKind = (typeof contractKinds)[number]

/** A contract whose logs prove payments of one kind. Its payments may be in any token. */
export interface PaymentContract extends ContractAddress {
  readonly kind: ContractKind
}

/** Addresses of a block explorer's pages, with a place for what is looked up. */
export interface Explorer {
  /** With `{hash}`. */
  readonly transaction: string
  /** With `{address}`. */
  readonly address: string
  /** With `{block}`. */
  readonly block: string
  /** Of an ERC-721 token, with `{address}` and `{id}`. */
  readonly token: string
}

/**
 * How a chain's settlements are divided by blocks, so that a partition can be indexed, vacuumed and taken out in
 * minutes. Numbers of blocks are multiples of a million.
 */
interface Partitions {
  /** Blocks of a partition; fewer are taken when settlements are so dense that it would get too many rows. */
  readonly blocks: number
  /** Blocks below it are in one partition: next to nothing was paid in them. */
  readonly oneBelow: number
}

export interface Chain {
  /** EIP-155 chain id. A source that answers another one is refused. */
  readonly id: number
  /** Display label of filters and of `chains` in API rows. */
  readonly label: string
  /** Term of the feed's `chain:` category. */
  readonly feedTerm: string
  /** Dataset on the SQD Portal. */
  readonly dataset: string
  /** Whether that dataset holds call traces. */
  readonly hasTraces: boolean
  /** Variable with the JSON-RPC address of the chain's tip. */
  readonly rpcVariable: string
  /** Variable with the address of a self-hosted v2 archive, used instead of the Portal. */
  readonly gatewayVariable: string
  /** Blocks below the head that may still be replaced; a deeper reorg stops the processor. */
  readonly finalityConfirmation: number
  /** ERC-8004 IdentityRegistry. */
  readonly registry: ContractAddress
  /** ERC-8004 ReputationRegistry: no feedback can precede the first registration, so it starts with it. */
  readonly reputation: ContractAddress
  /** Tokens whose settlements are indexed; empty where only registrations are. */
  readonly tokens: readonly Token[]
  /** Contracts whose payments are indexed beside them; one without code logs nothing. */
  readonly paymentContracts: readonly PaymentContract[]
  /** Null: the chain's settlements are one partition. */
  readonly partitions: Partitions | null
  /** Where people look the chain up. */
  readonly explorer: Explorer
  /** Colour of its mark on pages: # and six hex digits. */
  readonly hue: string
  /** Farcaster's contracts, on the one chain that has them; `fromBlock`: the first that changes of custody are asked from. */
  readonly social: { readonly idRegistry: string; readonly keyRegistry: string; readonly fromBlock: number } | null
}
