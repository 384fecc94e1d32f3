import { keccak256 } from '@subsquid/evm-abi'

/** Bits of a logs bloom. An item sets one per byte pair of its hash that begins at an offset of `pairs`. */
const bits = 2048
const bytes = bits / 8
const pairs = [0, 2, 4]

/**
 * Bloom filter of addresses and topics of logs.
 *
 * Source: Ethereum yellow paper, section 4.4.3.
 */
export function bloomOf(items: Iterable<string>): Buffer {
  const bloom = Buffer.alloc(bytes)
  for (const item of new Set(items)) {
    const hash: Buffer = keccak256(item)
    for (const pair of pairs) {
      const bit = hash.readUInt16BE(pair) % bits
      const place = bytes - 1 - (bit >> 3)
      bloom[place] = (bloom[place] as number) | (1 << (bit & 7))
    }
  }
  return bloom
}

/** Whether all bits of a bloom are set in another one; bits of a missing byte are not. */
export function isWithin(bloom: Buffer, other: Buffer): boolean {
  return bloom.every((byte, place) => (byte & ~(other[place] ?? 0)) === 0)
}
