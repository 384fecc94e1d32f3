import { events } from '../../abi/generated/dollar-token.ts'
import type { ChainSettings } from '../../chains.file.ts'
import { type ChainBlock, type ChainLog, type ChainTransaction, topicOf } from '../mapping/block.ts'
import { paymentLogs } from '../mapping/payment-kinds.ts'
import type { TraceArchive } from '../mapping/traces.ts'
import type { ArchiveQuery } from '../portal/query.ts'
import { fields } from '../source/request.ts'

/** Where the history of a chain is read. */
export interface History {
  /** For messages. */
  readonly name: string
  /** Number of the newest final block. */
  finalHeight(): Promise<number>
  /** Asks for the blocks of a range, both ends included; resolves when the answer begins. */
  open(fromBlock: number, toBlock: number): Promise<Answer>
  /** Reads blocks that the scanner does not understand. Throws when they are none. */
  parse(text: Buffer, at: number): { blocks: readonly ArchiveBlock[]; end: number }
  /** Undefined: it is not an archive that could hold any. */
  readonly traces: TraceArchive | undefined
}

/** The text of blocks in pieces that hold whole ones, ascending. It may end before the range does. */
export interface Answer {
  readonly pieces: AsyncIterable<Buffer>
  /** Whether its first block is the first of the range even when nothing is in it. */
  readonly isContiguous: boolean
  close(): void
}

/** A block as the archives send it. */
export interface ArchiveBlock {
  readonly header: {
    readonly number: number
    readonly hash: string
    readonly parentHash: string
    /** Seconds since 1970. */
    readonly timestamp: number
  }
  readonly logs?: readonly ChainLog[]
  readonly transactions?: readonly ChainTransaction[]
}

/** Whose settlements are read, which other payments, and what else. Lowercase hex. */
export interface Wanted {
  readonly tokens: readonly string[]
  /** Transactions that pay none of these are left out; undefined: nobody is. */
  readonly recipients?: readonly string[]
  /** Logs that prove payments by contracts; they are read as those of settlements are. */
  readonly payments?: LogFilter
  /** Logs that are read too, with their transactions; archives have them, a node is not asked. */
  readonly logs?: readonly LogFilter[]
}

/** The settlements and payments of a chain. */
export function wantedOf({ tokens, paymentContracts }: Pick<ChainSettings, 'tokens' | 'paymentContracts'>): Wanted {
  return { tokens: tokens.map(({ address }) => address), payments: paymentLogs(paymentContracts) }
}

/** Logs with any of these values at each place. */
export interface LogFilter {
  readonly address: readonly string[]
  readonly topic0: readonly string[]
  readonly topic1?: readonly string[]
  readonly topic3?: readonly string[]
}

/**
 * Asks for what settlements are made of, and for the other logs that are wanted. Of recipients: every transfer to them,
 * settled or not.
 */
export function historyQuery(
  { tokens, recipients, payments, logs = [] }: Wanted,
  fromBlock: number,
  toBlock: number,
): ArchiveQuery {
  const topics = recipients
    ? { topic0: [events.Transfer.topic], topic2: recipients.map(topicOf) }
    : { topic0: [events.AuthorizationUsed.topic] }
  return {
    fromBlock,
    toBlock,
    fields,
    logs: [
      ...(tokens.length > 0 ? [{ address: tokens, ...topics, transaction: true, transactionLogs: true }] : []),
      ...(payments ? [{ ...payments, transaction: true, transactionLogs: true }] : []),
      ...logs.map((filter) => ({ ...filter, transaction: true })),
    ],
  }
}

/** The block as the mapping reads it. */
export function toChainBlock({ header, logs = [], transactions = [] }: ArchiveBlock): ChainBlock {
  return {
    header: { height: header.number, hash: header.hash, timestamp: header.timestamp * 1000 },
    logs: logs.toSorted((a, b) => a.logIndex - b.logIndex),
    transactions,
  }
}
