import { createHash } from 'node:crypto'

// Hashes of RFC 6962, section 2.1: a prefix keeps an entry from passing for a node.

const leafPrefix = Uint8Array.of(0)
const nodePrefix = Uint8Array.of(1)

/** Bytes of a hash. */
export const hashBytes = 32

export const leafHash = (entry: Uint8Array): Buffer => sha256(leafPrefix, entry)
export const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => sha256(nodePrefix, left, right)

/** Root of a tree without entries. */
export const emptyRoot = (): Buffer => sha256()

/** Hash over a whole subtree, of the hashes of a power of two of its nodes. */
export function subtreeHash(hashes: Buffer): Buffer {
  const pair = Buffer.alloc(1 + 2 * hashBytes, nodePrefix) // one buffer for all: a tile has hundreds of nodes
  let level = hashes
  while (level.length > hashBytes) {
    const above = Buffer.alloc(level.length / 2)
    for (let at = 0; at < above.length; at += hashBytes) {
      level.copy(pair, 1, 2 * at, 2 * (at + hashBytes))
      sha256(pair).copy(above, at)
    }
    level = above
  }
  return level
}

function sha256(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256') // the shorter `hash` came with Node 20.12, and the check of proofs runs on any 20
  for (const part of parts) hash.update(part)
  return hash.digest()
}
