import { events } from '../../abi/generated/reputation-registry.ts'
import type { ChainName } from '../../config/chains.ts'
import { Feedback } from '../../db/model/feedback.model.ts'
import { FeedbackResponse } from '../../db/model/feedbackResponse.model.ts'
import { storableText } from '../../db/text.ts'
import { bytesOf, type ChainBlock, type ChainLog, transactionsOf } from './block.ts'
import type { EventPlace } from './registration-events.ts'

/** Most code points of each of a feedback's texts; longer ones are cut. */
const maxTextCodePoints = 64 * 1024

/** Feedback that was given or revoked. */
export type FeedbackEvent =
  | { readonly kind: 'given'; readonly row: Feedback }
  | (EventPlace & {
      readonly kind: 'revoked'
      readonly id: string
      readonly client: Buffer
      readonly feedbackIndex: bigint
    })

/** Feedback given and revoked in a block, in log order. Throws when an event of the registry does not decode. */
export function feedbackEvents(chain: ChainName, block: ChainBlock, registry: string): FeedbackEvent[] {
  const transactionOf = transactionsOf(block)
  return block.logs
    .filter((log) => log.address === registry)
    .flatMap((log): FeedbackEvent[] => {
      if (events.NewFeedback.is(log)) {
        return [{ kind: 'given', row: toFeedback(chain, block, log, transactionOf(log.transactionIndex).hash) }]
      }
      if (events.FeedbackRevoked.is(log)) {
        const { agentId, clientAddress, feedbackIndex } = events.FeedbackRevoked.decode(log)
        const id = feedbackId(chain, agentId, clientAddress, feedbackIndex)
        const { height, timestamp } = block.header
        return [
          {
            kind: 'revoked',
            id,
            agentId,
            client: bytesOf(clientAddress),
            feedbackIndex: BigInt(feedbackIndex),
            blockNumber: height,
            logIndex: log.logIndex,
            blockTimestamp: new Date(timestamp),
            txHash: bytesOf(transactionOf(log.transactionIndex).hash),
          },
        ]
      }
      return []
    })
}

/** Responses to feedback in a block, in log order, also to feedback nobody gave. Throws when one does not decode. */
export function feedbackResponses(chain: ChainName, block: ChainBlock, registry: string): FeedbackResponse[] {
  const transactionOf = transactionsOf(block)
  return block.logs
    .filter((log) => log.address === registry && events.ResponseAppended.is(log))
    .map((log) => {
      const given = events.ResponseAppended.decode(log)
      const { height, timestamp } = block.header
      return new FeedbackResponse({
        id: `${chain}-${height}-${log.logIndex}`,
        chain,
        agentId: given.agentId,
        client: bytesOf(given.clientAddress),
        feedbackIndex: BigInt(given.feedbackIndex),
        responder: bytesOf(given.responder),
        responseUri: toText(given.responseURI),
        responseHash: bytesOf(given.responseHash),
        blockNumber: height,
        logIndex: log.logIndex,
        blockTimestamp: new Date(timestamp),
        txHash: bytesOf(transactionOf(log.transactionIndex).hash),
      })
    })
}

/**
 * The feedback rows to write, each id once. `existing`: rows of earlier batches that these events revoke. Revoking
 * feedback that was never given changes nothing.
 */
export function applyFeedbackEvents(existing: readonly Feedback[], feedback: readonly FeedbackEvent[]): Feedback[] {
  const before = new Map(existing.map((row) => [row.id, row]))
  const changed = new Map<string, Feedback>()
  for (const event of feedback) {
    if (event.kind === 'given') {
      changed.set(event.row.id, event.row)
      continue
    }
    const row = changed.get(event.id) ?? before.get(event.id)
    if (!row) continue
    row.revokedBlock = event.blockNumber
    row.revokedAt = event.blockTimestamp
    changed.set(row.id, row)
  }
  return [...changed.values()]
}

function feedbackId(chain: ChainName, agentId: bigint, client: string, index: number | bigint): string {
  return `${chain}-${agentId}-${client}-${index}`
}

function toFeedback(chain: ChainName, { header }: ChainBlock, log: ChainLog, txHash: string): Feedback {
  const given = events.NewFeedback.decode(log)
  return new Feedback({
    id: feedbackId(chain, given.agentId, given.clientAddress, given.feedbackIndex),
    chain,
    agentId: given.agentId,
    client: bytesOf(given.clientAddress),
    feedbackIndex: BigInt(given.feedbackIndex),
    value: given.value,
    valueDecimals: given.valueDecimals,
    tag1: toText(given.tag1),
    tag2: toText(given.tag2),
    endpoint: toText(given.endpoint),
    feedbackUri: toText(given.feedbackURI),
    feedbackHash: bytesOf(given.feedbackHash),
    blockNumber: header.height,
    logIndex: log.logIndex,
    blockTimestamp: new Date(header.timestamp),
    txHash: bytesOf(txHash),
    revokedBlock: null,
    revokedAt: null,
  })
}

function toText(hex: string): string {
  return storableText(bytesOf(hex).toString(), maxTextCodePoints)
}
