import { describeDate } from '../continuity.ts'
import { bloomOf, isWithin } from './bloom.ts'
import type { SdkNodeBlock, SdkNodeLog } from './sdk.ts'

/** Root of a block that has no transactions: the hash of an empty trie. Source: Ethereum yellow paper, section 4.4.1. */
const noTransactions = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

/**
 * What cannot be the truth about a block and its logs, whatever its logs bloom says; undefined: nothing shows a fault.
 *
 * The logs of a block are numbered from 0, in the order of its transactions and within each in the order of the answer.
 * A number is not believed but compared with that place, and a transaction's index with its hash.
 */
export function describeGap({ logs = [], block }: SdkNodeBlock): string | undefined {
  if (block.timestamp !== undefined) {
    const late = describeDate(Number(block.timestamp) * 1_000)
    if (late) return `the node dates the block ${late}`
  }
  if (block.transactions.length === 0 && (block.transactionsRoot ?? noTransactions) !== noTransactions) {
    return 'the node left out the transactions'
  }
  if (logs.some(({ removed }) => removed)) return 'the node answers logs that it says were removed'
  return describeNumbers(logs) ?? describeTransactions(logs, block.transactions)
}

function describeNumbers(logs: readonly SdkNodeLog[]): string | undefined {
  const numbers = new Set(logs.map(({ logIndex }) => Number(logIndex)))
  if (numbers.size < logs.length) return `the node numbers ${logs.length} logs with ${numbers.size} numbers`
  for (let index = 0; index < logs.length; index++) {
    if (!numbers.has(index)) return `the node left out log ${index}`
  }
  const inOrder = logs.toSorted((a, b) => Number(a.transactionIndex) - Number(b.transactionIndex))
  const wrong = inOrder.findIndex(({ logIndex }, place) => Number(logIndex) !== place)
  return wrong < 0 ? undefined : `the node numbers log ${wrong} as ${Number(inOrder[wrong]?.logIndex)}`
}

/**
 * Compares the transaction that a log names with the one that the block has at its index. One more than the block lists
 * is not one of the block's: some nodes give the logs of Polygon's state sync but do not list it.
 */
function describeTransactions(
  logs: readonly SdkNodeLog[],
  transactions: SdkNodeBlock['block']['transactions'],
): string | undefined {
  const hashes = transactions.map(hashOf)
  const listed = new Set(hashes)
  const unlisted = hashes.length
  for (const { transactionIndex, transactionHash, logIndex } of logs) {
    const index = Number(transactionIndex)
    const isOfChain = index === unlisted && !listed.has(transactionHash)
    if (hashes[index] !== transactionHash && !isOfChain) {
      return `the node gives log ${Number(logIndex)} to transaction ${index}, which is not ${transactionHash}`
    }
  }
  return undefined
}

export function hashOf(transaction: SdkNodeBlock['block']['transactions'][number]): string {
  return typeof transaction === 'string' ? transaction : transaction.hash
}

/**
 * Whether the logs bloom of a block tells of more than its logs, which then are not all there. That of the logs may have
 * bits that the block's own lacks: Polygon's leave some logs out.
 */
export function lacksBloom({ logs = [], block: { logsBloom } }: SdkNodeBlock): boolean {
  const expected = Buffer.from(logsBloom?.slice(2) ?? '', 'hex')
  return !isWithin(expected, bloomOf(logs.flatMap(({ address, topics }) => [address, ...topics])))
}
