import { events } from '../../abi/generated/identity-registry.ts'
import type { ChainName } from '../../config/chains.ts'
import { RegistrationOperator } from '../../db/model/registrationOperator.model.ts'
import { bytesOf, type ChainBlock, type ChainLog, transactionsOf } from './block.ts'

/** What the identity registry logged about a registration. Texts are the bytes the caller sent. */
export type RegistrationEvent = EventPlace &
  (
    | { readonly kind: 'transfer'; readonly from: Buffer | null; readonly to: Buffer | null }
    | { readonly kind: 'approval'; readonly owner: Buffer; readonly approved: Buffer | null }
    | { readonly kind: 'registered'; readonly uri: Buffer; readonly owner: Buffer }
    | { readonly kind: 'uri'; readonly uri: Buffer; readonly updatedBy: Buffer }
    | { readonly kind: 'metadata'; readonly key: Buffer; readonly value: Buffer }
  )

export interface EventPlace {
  readonly agentId: bigint
  readonly blockNumber: number
  readonly logIndex: number
  readonly blockTimestamp: Date
  readonly txHash: Buffer
}

const zeroAddress = `0x${'0'.repeat(40)}`

/**
 * The registry's events of a block in log order. The owner that `Registered` names is nobody's word on who holds it: a
 * receiving contract can have passed the registration on before it is logged.
 *
 * Throws when an event of the registry does not decode: that is an indexing error, not data.
 */
export function registrationEvents(block: ChainBlock, registry: string): RegistrationEvent[] {
  const transactionOf = transactionsOf(block)
  return block.logs
    .filter((log) => log.address === registry)
    .flatMap((log) => {
      const content = contentOf(log)
      if (!content) return []
      const { agentId, ...event } = content
      return {
        ...event,
        agentId,
        blockNumber: block.header.height,
        logIndex: log.logIndex,
        blockTimestamp: new Date(block.header.timestamp),
        txHash: bytesOf(transactionOf(log.transactionIndex).hash),
      } as RegistrationEvent
    })
}

/** Operators that owners named or took back in a block, in log order. Throws when an event does not decode. */
export function operatorChanges(chain: ChainName, block: ChainBlock, registry: string): RegistrationOperator[] {
  const transactionOf = transactionsOf(block)
  return block.logs
    .filter((log) => log.address === registry && events.ApprovalForAll.is(log))
    .map((log) => {
      const { owner, operator, approved } = events.ApprovalForAll.decode(log)
      const { height, timestamp } = block.header
      return new RegistrationOperator({
        id: `${chain}-${height}-${log.logIndex}`,
        chain,
        owner: bytesOf(owner),
        operator: bytesOf(operator),
        approved,
        blockNumber: height,
        logIndex: log.logIndex,
        blockTimestamp: new Date(timestamp),
        txHash: bytesOf(transactionOf(log.transactionIndex).hash),
      })
    })
}

function contentOf(log: ChainLog) {
  if (events.Transfer.is(log)) {
    const { from, to, tokenId } = events.Transfer.decode(log)
    return { kind: 'transfer', agentId: tokenId, from: holderOf(from), to: holderOf(to) }
  }
  if (events.Approval.is(log)) {
    const { owner, approved, tokenId } = events.Approval.decode(log)
    return { kind: 'approval', agentId: tokenId, owner: bytesOf(owner), approved: holderOf(approved) }
  }
  if (events.Registered.is(log)) {
    const { agentId, agentURI, owner } = events.Registered.decode(log)
    return { kind: 'registered', agentId, uri: bytesOf(agentURI), owner: bytesOf(owner) }
  }
  if (events.URIUpdated.is(log)) {
    const { agentId, newURI, updatedBy } = events.URIUpdated.decode(log)
    return { kind: 'uri', agentId, uri: bytesOf(newURI), updatedBy: bytesOf(updatedBy) }
  }
  if (events.MetadataSet.is(log)) {
    const { agentId, metadataKey, metadataValue } = events.MetadataSet.decode(log)
    return { kind: 'metadata', agentId, key: bytesOf(metadataKey), value: bytesOf(metadataValue) }
  }
  return undefined
}

/** An address of a log; null for the zero address, which stands before a mint, after a burn, and for nobody approved. */
function holderOf(address: string): Buffer | null {
  return address === zeroAddress ? null : bytesOf(address)
}
