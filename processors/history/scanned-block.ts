import type { ChainBlock, ChainLog, ChainTransaction } from '../mapping/block.ts'
import { addressLength, type BlockScanner, hashLength } from './block-scanner.ts'

/** Converts a scanned block to the form that the mapping reads. */
export function scannedBlock(text: Buffer, scan: BlockScanner): ChainBlock {
  const hash = text.toString('latin1', scan.hashAt, scan.hashAt + hashLength)
  return {
    header: { height: scan.number, hash, timestamp: scan.timestamp * 1000 },
    logs: Array.from({ length: scan.logs }, (_, position) => logAt(text, scan, position)).sort(
      (a, b) => a.logIndex - b.logIndex,
    ),
    transactions: Array.from({ length: scan.transactions }, (_, position) => transactionAt(text, scan, position)),
  }
}

function transactionAt(text: Buffer, scan: BlockScanner, position: number): ChainTransaction {
  const at = (start: number, length: number) => text.toString('latin1', start, start + length)
  const to = scan.toAt[position] as number
  return {
    transactionIndex: scan.transactionIndex[position] as number,
    hash: at(scan.txHashAt[position] as number, hashLength),
    from: at(scan.fromAt[position] as number, addressLength),
    to: to === 0 ? null : at(to, addressLength),
    input: text.toString('latin1', scan.inputAt[position], scan.inputEnd[position]),
  }
}

function logAt(text: Buffer, scan: BlockScanner, position: number): ChainLog {
  const address = scan.addressAt[position] as number
  return {
    logIndex: scan.logIndex[position] as number,
    transactionIndex: scan.logTransaction[position] as number,
    address: text.toString('latin1', address, address + addressLength),
    topics: Array.from({ length: scan.topics[position] as number }, (_, topic) => {
      const start = scan.topicAt[4 * position + topic] as number
      return text.toString('latin1', start, start + hashLength)
    }),
    data: text.toString('latin1', scan.dataAt[position], scan.dataEnd[position]),
  }
}
