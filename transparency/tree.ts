import { emptyRoot, hashBytes, nodeHash, subtreeHash } from './hashes.ts'
import { perTile, type ReadTile, tileHeight } from './tiles.ts'

// The Merkle tree of RFC 6962, section 2.1, read from its tiles. A root or a proof asks for all the tiles that it needs
// before it waits for one, so that a reader may fetch them together.

/** Entries from the first number up to the second, without it. */
type Range = readonly [from: number, to: number]

/** Root of the tree of the first `size` entries. */
export async function rootOf(size: number, readTile: ReadTile): Promise<Buffer> {
  return size === 0 ? emptyRoot() : rangeHash([0, size], onceEach(readTile))
}

/**
 * Hashes that show that the entry at `index` is in the tree of the first `size`, the one next to it first.
 *
 * Throws a RangeError for an entry outside the tree.
 */
export async function inclusionProof(index: number, size: number, readTile: ReadTile): Promise<Buffer[]> {
  if (!(index >= 0 && index < size)) throw new RangeError(`there is no entry ${index} in a tree of ${size}`)
  const siblings: Range[] = []
  for (let from = 0, to = size; to - from > 1; ) {
    const middle = from + splitOf(to - from)
    siblings.unshift(index < middle ? [middle, to] : [from, middle])
    if (index < middle) to = middle
    else from = middle
  }
  const read = onceEach(readTile)
  return Promise.all(siblings.map((range) => rangeHash(range, read)))
}

/**
 * Hashes that show that the tree of the first `size` entries begins with that of the first `before`, for `isConsistent`.
 * RFC 6962, section 2.1.2.
 *
 * Throws a RangeError when the earlier tree is the longer one.
 */
export async function consistencyProof(before: number, size: number, readTile: ReadTile): Promise<Buffer[]> {
  if (!(before >= 0 && before <= size)) throw new RangeError(`a tree of ${size} does not begin with one of ${before}`)
  if (before === 0 || before === size) return []
  const siblings: Range[] = []
  let from = 0
  let to = size
  while (to !== before) {
    const middle = from + splitOf(to - from)
    siblings.unshift(before <= middle ? [middle, to] : [from, middle])
    if (before <= middle) to = middle
    else from = middle
  }
  if (from > 0) siblings.unshift([from, to]) // else the earlier tree is one subtree, whose root is known
  const read = onceEach(readTile)
  return Promise.all(siblings.map((range) => rangeHash(range, read)))
}

/** Reads each tile once: most hashes of a proof are in the same few. */
export function onceEach(readTile: ReadTile): ReadTile {
  const known = new Map<string, Promise<Buffer>>()
  return (place) => {
    const key = `${place.level} ${place.number}`
    const hashes = known.get(key) ?? readTile(place)
    known.set(key, hashes)
    return hashes
  }
}

/** Hash over a range that begins at a multiple of the power of two that holds it. */
async function rangeHash([from, to]: Range, readTile: ReadTile): Promise<Buffer> {
  const split = splitOf(to - from)
  if (to - from === 1 || to - from === 2 * split) return nodeOf(from, to - from, readTile)
  const middle = from + split
  const parts: Range[] = [
    [from, middle],
    [middle, to],
  ]
  const [left, right] = await Promise.all(parts.map((part) => rangeHash(part, readTile)))
  return nodeHash(left as Buffer, right as Buffer)
}

/** Hash over entries from a multiple of `count` on, which is a power of two: a part of a tile has it. */
async function nodeOf(from: number, count: number, readTile: ReadTile): Promise<Buffer> {
  const level = Math.floor(Math.log2(count) / tileHeight)
  const span = perTile ** level
  const first = from / span
  const hashes = await readTile({ level, number: Math.floor(first / perTile) })
  const begin = (first % perTile) * hashBytes
  return subtreeHash(hashes.subarray(begin, begin + (count / span) * hashBytes))
}

/** The largest power of two below a size above 1; the operators of bits end at 32 of them. */
function splitOf(size: number): number {
  let split = 1
  while (split * 2 < size) split *= 2
  return split
}
