import { emptyRoot, hashBytes, nodeHash } from '../../transparency/hashes.ts'
import type { TreeHead } from '../../transparency/proofs.ts'
import { perTile, type ReadTile } from '../../transparency/tiles.ts'

// What a reader who kept a checkpoint does, as the RFCs have it.

/** Root over the hashes of all entries. RFC 6962, section 2.1. */
export function plainRoot(leaves: readonly Buffer[]): Buffer {
  if (leaves.length < 2) return leaves[0] ?? emptyRoot()
  const split = splitOf(leaves.length)
  return nodeHash(plainRoot(leaves.slice(0, split)), plainRoot(leaves.slice(split)))
}

/** Hashes that show that the tree of the first `size` entries begins with that of the first `before`. Section 2.1.2. */
export async function consistencyProof(before: number, size: number, readTile: ReadTile): Promise<Buffer[]> {
  const leaves: Buffer[] = []
  for (let number = 0; leaves.length < size; number++) {
    const hashes = await readTile({ level: 0, number })
    for (let at = 0; at < perTile && leaves.length < size; at++) {
      leaves.push(hashes.subarray(at * hashBytes, (at + 1) * hashBytes))
    }
  }
  return before === 0 ? [] : subproof(before, leaves, true)
}

function subproof(before: number, leaves: readonly Buffer[], isKnown: boolean): Buffer[] {
  if (before === leaves.length) return isKnown ? [] : [plainRoot(leaves)]
  const split = splitOf(leaves.length)
  const left = leaves.slice(0, split)
  const right = leaves.slice(split)
  if (before <= split) return [...subproof(before, left, isKnown), plainRoot(right)]
  return [...subproof(before - split, right, false), plainRoot(left)]
}

/** Whether hashes show that a tree begins with an earlier one. RFC 9162, section 2.1.4.2. */
export function isConsistent(before: TreeHead, after: TreeHead, proof: readonly Uint8Array[]): boolean {
  if (before.size === after.size) return proof.length === 0 && isEqual(before.root, after.root)
  if (before.size === 0) return proof.length === 0 && isEqual(before.root, emptyRoot())
  if (before.size > after.size || proof.length === 0) return false
  const isWhole = splitOf(before.size + 1) === before.size
  const [first, ...others] = isWhole ? [before.root, ...proof] : proof
  let node = before.size - 1
  let last = after.size - 1
  const halve = () => {
    node = Math.floor(node / 2)
    last = Math.floor(last / 2)
  }
  while (node % 2 === 1) halve()
  let old = first as Uint8Array
  let now = old
  for (const next of others) {
    if (last === 0) return false
    if (node % 2 === 1 || node === last) {
      old = nodeHash(next, old)
      now = nodeHash(next, now)
      while (node % 2 === 0 && node !== 0) halve()
    } else {
      now = nodeHash(now, next)
    }
    halve()
  }
  return last === 0 && isEqual(old, before.root) && isEqual(now, after.root)
}

const isEqual = (one: Uint8Array, other: Uint8Array) => Buffer.compare(one, other) === 0

/** The largest power of two below a size above 1. */
function splitOf(size: number): number {
  let split = 1
  while (split * 2 < size) split *= 2
  return split
}
