import type { ContractKind } from './payments.ts'

// The shape of a row of the chain table.

/** A contract and the first block worth asking for its logs. */
interface ContractAddress {
  /** Lowercase hex, 20 bytes. */
  readonly address: string
  /** First block, inclusive. Never above the contract's first event. */
  readonly fromBlock: number
}

/** A dollar token: its EIP-3009 transfers are settlements, and what payment contracts pay in it is counted as dollars. */
export interface Token extends ContractAddress {
  /** Base units are 10^-decimals dollars. Rows are summed in millionths of a dollar, whatever it is. */
  readonly decimals: number
  /** Absent: USDC. */
  readonly symbol?: string
  /** `name` of the token's EIP-712 domain; absent: USD Coin, or no source names it. Only signers need it. */
  readonly domainName?: 'USDC'
}

/** A contract whose logs prove payments by other means than EIP-3009. They may be in any token. */
export interface PaymentContract extends ContractAddress {
  readonly kind: ContractKind
  /**
   * Of an escrow: the contracts, in lowercase hex, that draw money from its payer alone, and with the payer's consent. Absent:
   * none is known to.
   */
  readonly collectors?: readonly string[]
}

/** URL templates of a block explorer's pages. */
export interface Explorer {
  /** Page of a transaction, with the placeholder `{hash}`. */
  readonly transaction: string
  /** Page of an address, with the placeholder `{address}`. */
  readonly address: string
  /** Page of a block, with the placeholder `{block}` for its number. */
  readonly block: string
  /** Page of an ERC-721 token, with the placeholders `{address}` of its contract and `{id}`. */
  readonly token: string
}

/**
 * How a chain's settlement table is partitioned by block, so that one partition can be indexed, vacuumed and archived
 * in minutes. Both numbers are multiples of 1,000,000. Whoever changes them changes only partitions that come later.
 */
export interface Partitions {
  /** Blocks per partition; a partition covers fewer where settlements are so dense that it would get too many rows. */
  readonly blocks: number
  /** All blocks below this number share one partition: next to nothing was paid in them. */
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
  /** Tokens whose settlements are indexed; empty where there are none. */
  readonly tokens: readonly Token[]
  /** Contracts whose payments are indexed besides settlements; an address that has no code yet does no harm. */
  readonly paymentContracts: readonly PaymentContract[]
  /** How settlements are partitioned by block. */
  readonly partitions: Partitions
  /** The block explorer that pages link to. */
  readonly explorer: Explorer
  /** Colour of its mark on pages: # and six hex digits. */
  readonly hue: string
  /** Farcaster's contracts; custody changes are read from `fromBlock` on. Null: they are on another chain. */
  readonly social: { readonly idRegistry: string; readonly keyRegistry: string; readonly fromBlock: number } | null
}

/**
 * First block that may have a payment: its first token's or, without tokens, its first payment contract's. Null: it has
 * neither, so only registrations and feedback.
 */
export function firstPaidBlock({
  tokens,
  paymentContracts,
}: Pick<Chain, 'tokens' | 'paymentContracts'>): number | null {
  const paid = tokens.length > 0 ? tokens : paymentContracts
  return paid.length > 0 ? Math.min(...paid.map(({ fromBlock }) => fromBlock)) : null
}

/** Objective for the age of a chain's newest indexed block, in seconds. */
export const lagObjective = {
  /** Where the tip is read from a node. */
  atTip: 2 * 60,
  /** Where only final blocks are read: Ethereum's finality, which other chains wait for, and a margin. */
  whenFinal: 20 * 60,
}
