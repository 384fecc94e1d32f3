import { emptyRoot, nodeHash } from './hashes.ts'

/** What a log says of itself at a time: how many entries there are, and the root of the tree over them. */
export interface TreeHead {
  readonly size: number
  readonly root: Uint8Array
}

/** Whether hashes show that the entry at `index`, whose leaf hash this is, is in a tree. RFC 9162, section 2.1.3.2. */
export function isIncluded(
  { index, leaf }: { readonly index: number; readonly leaf: Uint8Array },
  { size, root }: TreeHead,
  proof: readonly Uint8Array[],
): boolean {
  if (!isCount(index) || !isCount(size) || index >= size) return false
  const climb = climber(index, size - 1)
  let reached = leaf
  for (const next of proof) {
    const side = climb.up()
    if (!side) return false
    reached = side === 'left' ? nodeHash(next, reached) : nodeHash(reached, next)
  }
  return climb.isAtRoot() && isEqual(reached, root)
}

/**
 * Whether hashes show that a tree begins with an earlier one. RFC 9162, section 2.1.4.2.
 *
 * It does not matter where the hashes come from: no others hold, whoever chose them.
 */
export function isConsistent(before: TreeHead, after: TreeHead, proof: readonly Uint8Array[]): boolean {
  if (!isCount(before.size) || !isCount(after.size)) return false
  if (before.size === after.size) return proof.length === 0 && isEqual(before.root, after.root)
  if (before.size === 0) return proof.length === 0 && isEqual(before.root, emptyRoot())
  if (before.size > after.size) return false
  const climb = climber(before.size - 1, after.size - 1)
  climb.upLeft()
  // The earlier tree is a subtree of the later one where its size is a power of two; its root then begins the proof.
  const [first, ...others] = climb.isFirst() ? [before.root, ...proof] : proof
  if (!first || proof.length === 0) return false
  let old = first
  let now = first
  for (const next of others) {
    const side = climb.up()
    if (!side) return false
    if (side === 'left') old = nodeHash(next, old)
    now = side === 'left' ? nodeHash(next, now) : nodeHash(now, next)
  }
  return climb.isAtRoot() && isEqual(old, before.root) && isEqual(now, after.root)
}

/** The way from a node up to the root, in a tree whose last node on that level is `last`. */
function climber(node: number, last: number) {
  const halve = () => {
    node = Math.floor(node / 2)
    last = Math.floor(last / 2)
  }
  return {
    isAtRoot: () => last === 0,
    /** Whether the node is the first of its level. */
    isFirst: () => node === 0,
    /** Goes up while the node is on the right of its pair. */
    upLeft(): void {
      while (node % 2 === 1) halve()
    },
    /** Goes up to where the node meets another, and says on which side that is; undefined: it is the root. */
    up(): 'left' | 'right' | undefined {
      if (last === 0) return undefined
      const side = node % 2 === 1 || node === last ? 'left' : 'right'
      if (side === 'left') while (node % 2 === 0 && node !== 0) halve()
      halve()
      return side
    },
  }
}

const isCount = (value: number) => Number.isSafeInteger(value) && value >= 0
const isEqual = (one: Uint8Array, other: Uint8Array) => Buffer.compare(one, other) === 0
