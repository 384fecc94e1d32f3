import { keccak256 } from '@subsquid/evm-abi'
import type { SdkNodeBlock, SdkNodeLog } from './sdk.ts'

/** Bits of a logs bloom. An item sets one per byte pair of its hash that begins at an offset of `bloomPairs`. */
const bloomBits = 2048
const bloomBytes = bloomBits / 8
const bloomPairs = [0, 2, 4]

/** Why logs of a block must be missing; undefined: nothing shows that any are. */
export function describeGap({ logs = [], block: { logsBloom } }: SdkNodeBlock): string | undefined {
  const present = new Set(logs.map(({ logIndex }) => Number(logIndex)))
  for (let index = 0, left = present.size; left > 0; index++) {
    if (!present.has(index)) return `the node left out log ${index}`
    left--
  }
  const expected = Buffer.from(logsBloom?.slice(2) ?? '', 'hex')
  const found = bloomOf(logs)
  if (expected.every((byte, place) => (byte & ~(found[place] as number)) === 0)) return undefined
  return "the node left out logs that the block's logs bloom tells of"
}

/**
 * Bloom filter of some logs. It may have bits that the block's own lacks: Polygon's leave some logs out.
 *
 * Source: Ethereum yellow paper, section 4.4.3.
 */
function bloomOf(logs: readonly SdkNodeLog[]): Buffer {
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
