import { emptyRoot, nodeHash } from '../../transparency/hashes.ts'

// The tree as RFC 6962 defines it, from the hashes of all its entries.

/** Root over the hashes of all entries. Section 2.1. */
export function plainRoot(leaves: readonly Buffer[]): Buffer {
  if (leaves.length < 2) return leaves[0] ?? emptyRoot()
  const split = splitOf(leaves.length)
  return nodeHash(plainRoot(leaves.slice(0, split)), plainRoot(leaves.slice(split)))
}

/** Hashes that show that the tree of all entries begins with that of the first `before`. Section 2.1.2. */
export function plainConsistency(before: number, leaves: readonly Buffer[]): Buffer[] {
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

/** The largest power of two below a size above 1. */
function splitOf(size: number): number {
  let split = 1
  while (split * 2 < size) split *= 2
  return split
}
