import { nodeHash } from './hashes.ts'

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

/** The way from a node up to the root, in a tree whose last node on that level is `last`. */
function climber(node: number, last: number) {
  const halve = () => {
    node = Math.floor(node / 2)
    last = Math.floor(last / 2)
  }
  return {
    isAtRoot: () => last === 0,
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
