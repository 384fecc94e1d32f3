import { setTimeout as delay } from 'node:timers/promises'
import { keccak256 } from '@subsquid/evm-abi'
import type { SdkBlockReader, SdkNodeBlock } from './sdk.ts'

const names = ['getBlockBatch', 'getBlockByHash', 'addLogs', 'withPriority'] as const satisfies (keyof SdkBlockReader)[]

/** Before a node is asked once more for what it did not have, or not whole. */
const retryMs = 200
/** A bloom filter has so many bits, and an item sets as many of them as here are pairs of bytes in its hash. */
const bloomBits = 2048
const bloomBytes = bloomBits / 8
const bloomPairs = [0, 2, 4]

/**
 * Makes the SDK ask again for what cannot be the truth about a block: another block than the one asked for, and logs
 * that are not all there. It asserts the order of blocks itself, and of logs only that there are some.
 *
 * Not checked: that a block's hash is the hash of its content, and what the filter cannot show: logs left out at the
 * end of a block whose others set the same bits.
 */
export function checkBlocks<R extends SdkBlockReader>(reader: R): R {
  const missing = names.filter((name) => typeof reader[name] !== 'function')
  if (missing.length > 0) throw new Error(`the SDK of this version reads blocks without ${missing.join(', ')}`)
  const getBlockBatch = reader.getBlockBatch.bind(reader)
  const getBlockByHash = reader.getBlockByHash.bind(reader)
  const addLogs = reader.addLogs.bind(reader)
  const withPriority = reader.withPriority.bind(reader)
  reader.getBlockBatch = async (numbers, withTransactions) => {
    const blocks = await getBlockBatch(numbers, withTransactions)
    const right = blocks.map((block, place) => (block?.height === numbers[place] ? block : undefined))
    if (right.includes(undefined)) await delay(retryMs)
    return right
  }
  reader.getBlockByHash = async (hash, withTransactions) => {
    const block = await getBlockByHash(hash, withTransactions)
    return block?.hash === hash ? block : null
  }
  reader.addLogs = async (blocks) => {
    await addLogs(blocks)
    for (const block of blocks) markIncomplete(block)
    if (blocks.some(({ _isInvalid }) => _isInvalid)) await delay(retryMs)
  }
  reader.withPriority = (priority) => checkBlocks(withPriority(priority))
  return reader
}

function markIncomplete(block: SdkNodeBlock) {
  const problem = describeGap(block)
  if (!problem) return
  block._isInvalid = true
  block._errorMessage = problem
}

/** What shows that logs of a block are missing; undefined: nothing does. */
function describeGap({ logs = [], block: { logsBloom } }: SdkNodeBlock): string | undefined {
  const present = new Set(logs.map(({ logIndex }) => Number(logIndex)))
  for (let index = 0, left = present.size; left > 0; index++) {
    if (!present.has(index)) return `eth_getLogs left out log ${index}`
    left--
  }
  const expected = Buffer.from(logsBloom?.slice(2) ?? '', 'hex')
  const found = bloomOf(logs)
  if (expected.every((byte, place) => (byte & ~(found[place] as number)) === 0)) return undefined
  return "eth_getLogs left out logs that the block's logs bloom tells of"
}

/** Source: Ethereum yellow paper, section 4.4.3. A superset is no fault: the filter of a block of Polygon leaves some out. */
function bloomOf(logs: NonNullable<SdkNodeBlock['logs']>): Buffer {
  const bloom = Buffer.alloc(bloomBytes)
  const items = new Set(logs.flatMap(({ address, topics }) => [address, ...topics]))
  for (const item of items) {
    const hash: Buffer = keccak256(item)
    for (const pair of bloomPairs) {
      const bit = hash.readUInt16BE(pair) % bloomBits
      const place = bloomBytes - 1 - (bit >> 3)
      bloom[place] = (bloom[place] as number) | (1 << (bit & 7))
    }
  }
  return bloom
}
