import { events } from '../../abi/generated/dollar-token.ts'
import type { ChainBlock, ChainLog, ChainTransaction } from '../block.ts'
import type { ArchiveQuery } from '../portal-query.ts'
import { fields } from '../request.ts'
import type { TraceArchive } from '../traces.ts'

/** Where the settlement history of a chain is read. */
export interface History {
  /** For messages. */
  readonly name: string
  /** Number of the newest final block. */
  finalHeight(): Promise<number>
  /** Asks for the blocks of a range, both ends included; resolves when the answer begins. */
  open(fromBlock: number, toBlock: number): Promise<Answer>
  /** Reads blocks that the scanner does not understand. Throws when they are none. */
  parse(text: Buffer, at: number): { blocks: readonly ArchiveBlock[]; end: number }
  readonly traces: TraceArchive
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

/** Asks for what settlements are made of and nothing else. */
export function settlementQuery(tokens: readonly string[], fromBlock: number, toBlock: number): ArchiveQuery {
  return {
    fromBlock,
    toBlock,
    fields,
    logs: [
      {
        address: tokens,
        topic0: [events.AuthorizationUsed.topic],
        transaction: true,
        transactionLogs: true,
      },
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
