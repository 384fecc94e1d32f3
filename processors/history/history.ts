import { events } from '../../abi/generated/dollar-token.ts'
import type { ChainSettings } from '../../config/chains.file.ts'
import { type ChainBlock, type ChainLog, type ChainTransaction, topicOf } from '../mapping/block.ts'
import { paymentLogs } from '../mapping/payment-kinds.ts'
import type { TraceArchive } from '../mapping/trace-query.ts'
import type { ArchiveQuery } from '../portal/query.ts'
import { fields } from '../source/wanted-logs.ts'

/** A source of a chain's history. */
export interface History {
  /** Name of the source, for messages. */
  readonly name: string
  /** Number of the newest final block. */
  finalHeight(): Promise<number>
  /** Asks for the blocks of a range, both ends included; resolves when the answer begins. */
  open(fromBlock: number, toBlock: number): Promise<Answer>
  /** Parses blocks that the scanner does not understand, from `at` on. Throws when the text holds none. */
  parse(text: Buffer, at: number): { blocks: readonly ArchiveBlock[]; end: number }
  /** Archive that may hold traces; undefined: the source is not an archive. */
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

/** What to read from a history: settlements in some tokens, payments and other logs. All values are lowercase hex. */
export interface Wanted {
  readonly tokens: readonly string[]
  /** Only transactions that pay one of these are read; undefined: whoever is paid. */
  readonly recipients?: readonly string[]
  /** Logs that prove payments by contracts; read like settlements, with the transaction and all its logs. */
  readonly payments?: LogFilter
  /** Further logs to read, with their transactions; archives are asked for them, a node is not. */
  readonly logs?: readonly LogFilter[]
}

/** What to read for all settlements and payments of a chain. */
export function wantedOf({ tokens, paymentContracts }: Pick<ChainSettings, 'tokens' | 'paymentContracts'>): Wanted {
  return { tokens: tokens.map(({ address }) => address), payments: paymentLogs(paymentContracts) }
}

/** Matches logs that have one of the values in every field that is given. */
export interface LogFilter {
  readonly address: readonly string[]
  readonly topic0: readonly string[]
  readonly topic1?: readonly string[]
  readonly topic3?: readonly string[]
}

/**
 * Archive query for what is wanted in a range of blocks. With recipients it asks for every transfer to them, settled or
 * not, instead of for executed authorizations.
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

/** Converts an archive's block to the form that the mapping reads. */
export function toChainBlock({ header, logs = [], transactions = [] }: ArchiveBlock): ChainBlock {
  return {
    header: { height: header.number, hash: header.hash, timestamp: header.timestamp * 1000 },
    logs: logs.toSorted((a, b) => a.logIndex - b.logIndex),
    transactions,
  }
}
