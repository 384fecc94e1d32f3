import { createHash } from 'node:crypto'
import { chains } from '../../../config/chains.ts'
import type { Block, Header, Log, Transaction } from '../../doubles/portal/blocks.ts'
import { type MemorySource, memorySource } from '../../doubles/portal/memory-source.ts'
import { groupBy, type RecordedChain, type RecordedTransaction } from './file.ts'
import { recordedRegistrations } from './registrations.ts'
import { recordedSettlements } from './settlements.ts'

/** All recorded blocks of a chain as one dataset: recorded hashes kept, headers between them made up but linked. */
export function recordedSource(chain: RecordedChain): MemorySource {
  const parts = [...(chain === 'base' ? recordedSettlements() : []), ...recordedRegistrations(chain)]
  const byNumber = groupBy(parts, ({ number }) => number)
  const hashOf = (number: number) =>
    byNumber.get(number)?.find(({ hash }) => hash)?.hash ??
    `0x${createHash('sha256').update(`${chain} ${number}`).digest('hex')}`
  const header = (number: number): Header => ({
    number,
    hash: hashOf(number),
    parentHash: hashOf(number - 1),
    timestamp: timestampOf(chain, number),
  })
  const blocks = [...byNumber]
    .sort(([a], [b]) => a - b)
    .map(([number, ofBlock]): Block => {
      const logs = ofBlock.flatMap((part) => part.logs).sort((a, b) => a.logIndex - b.logIndex)
      const transactions = unique(ofBlock.flatMap((part) => part.transactions))
      checkPositions(`${chain} block ${number}`, logs, transactions)
      return { header: header(number), transactions, logs, traces: [] }
    })
  return memorySource({ blocks, startBlock: 0, chunkBlocks: 1_000_000, emptyHeader: header })
}

/** Unix seconds of a block. */
export function timestampOf(chain: RecordedChain, number: number): number {
  // Base: two seconds a block from its genesis, which held exactly on every recorded transaction.
  if (chain === 'base') return 1_686_789_347 + 2 * number
  // Ethereum: a slot of twelve seconds from the registry's first block, as if none had been missed. Not recorded.
  return Date.UTC(2026, 0, 29, 10, 20, 23) / 1000 + 12 * (number - chains.ethereum.registry.fromBlock)
}

/** Each transaction once: it can hold logs of several recordings. */
function unique(transactions: readonly RecordedTransaction[]): RecordedTransaction[] {
  const byHash = new Map(transactions.map((transaction) => [transaction.hash, transaction]))
  return [...byHash.values()].sort((a, b) => a.transactionIndex - b.transactionIndex)
}

function checkPositions(where: string, logs: readonly Log[], transactions: readonly Transaction[]) {
  if (new Set(logs.map((log) => log.logIndex)).size < logs.length) throw new Error(`${where}: two logs at one index`)
  if (new Set(transactions.map((transaction) => transaction.transactionIndex)).size < transactions.length) {
    throw new Error(`${where}: two transactions at one index`)
  }
  for (const log of logs) {
    if (log.logIndex < 0 || log.transactionIndex < 0) throw new Error(`${where}: a log stands before the block`)
    const transaction = transactions.find(({ hash }) => hash === log.transactionHash)
    if (transaction?.transactionIndex !== log.transactionIndex) {
      throw new Error(`${where}: log ${log.logIndex} is in no transaction`)
    }
  }
}
