import type { EvmBatchProcessor } from '@subsquid/evm-processor'
import { events as token } from '../../abi/generated/dollar-token.ts'
import { events as custody } from '../../abi/generated/id-registry.ts'
import { events as identity } from '../../abi/generated/identity-registry.ts'
import { events as reputationEvents } from '../../abi/generated/reputation-registry.ts'
import type { ChainSettings } from '../../config/chains.file.ts'
import { type Backfilled, gapsBetween } from '../backfilled.ts'
import { paymentLogs } from '../mapping/payment-kinds.ts'

/** What a row needs and nothing else: every further field is downloaded for each of 1e8 transactions. */
export const fields = {
  block: { timestamp: true },
  transaction: { hash: true, from: true, to: true, input: true },
  log: { address: true, topics: true, data: true },
} as const

export type Fields = typeof fields

/** The first block any of a chain's contracts is asked from. */
export function firstBlock(
  { registry, reputation, social, tokens, paymentContracts }: ChainSettings,
  backfilled: Backfilled,
): number {
  const settlements = [...tokens, ...paymentContracts].map(
    ({ fromBlock }) => gapsBetween(fromBlock, backfilled)[0]?.from ?? fromBlock,
  )
  return Math.min(
    registry.fromBlock,
    reputation.fromBlock,
    social?.fromBlock ?? Number.POSITIVE_INFINITY,
    ...settlements,
  )
}

/** The events of a chain's contracts but its tokens, and where each contract begins. */
export function contractLogs({ registry, reputation, social }: ChainSettings) {
  const { Registered, URIUpdated, MetadataSet, Transfer, Approval, ApprovalForAll, Upgraded } = identity
  const { NewFeedback, FeedbackRevoked, ResponseAppended } = reputationEvents
  const contracts = [
    {
      address: registry.address,
      topic0: topics(Registered, URIUpdated, MetadataSet, Transfer, Approval, ApprovalForAll, Upgraded),
      fromBlock: registry.fromBlock,
    },
    {
      address: reputation.address,
      topic0: topics(NewFeedback, FeedbackRevoked, ResponseAppended, Upgraded),
      fromBlock: reputation.fromBlock,
    },
  ]
  if (!social) return contracts
  const custodyLogs = { address: social.idRegistry, topic0: topics(custody.Transfer, custody.Recover) }
  return [...contracts, { ...custodyLogs, fromBlock: social.fromBlock }]
}

/**
 * Asks for the logs of a chain's contracts, each from its own first block.
 *
 * Settlements are asked by AuthorizationUsed, with the transaction and all its logs: every successful call leaves that
 * log, at any depth and from any sender, and a failed one leaves none. With it goes what a token's proxy logs when it is
 * upgraded. Payments are asked for by their contracts' logs.
 */
export function request(
  processor: Pick<EvmBatchProcessor<Fields>, 'addLog'>,
  chain: ChainSettings,
  backfilled: Backfilled,
): void {
  for (const { address, topic0, fromBlock } of contractLogs(chain)) {
    processor.addLog({ address: [address], topic0, transaction: true, range: { from: fromBlock } })
  }
  for (const { address, fromBlock } of chain.tokens) {
    for (const range of gapsBetween(fromBlock, backfilled)) {
      processor.addLog({
        address: [address],
        topic0: topics(token.AuthorizationUsed, identity.Upgraded),
        transaction: true,
        transactionLogs: true,
        range,
      })
    }
  }
  for (const contract of chain.paymentContracts) {
    for (const range of gapsBetween(contract.fromBlock, backfilled)) {
      processor.addLog({ ...paymentLogs([contract]), transaction: true, transactionLogs: true, range })
    }
  }
}

function topics(...events: readonly { readonly topic: string }[]): string[] {
  return events.map(({ topic }) => topic)
}
