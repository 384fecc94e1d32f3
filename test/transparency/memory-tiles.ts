import { appendToTiles, type ReadTile } from '../../transparency/tiles.ts'

/** The tiles of a tree, in memory. */
export class MemoryTiles {
  readonly #tiles = new Map<string, Buffer>()
  size = 0

  readonly read: ReadTile = async ({ level, number }) => {
    const hashes = this.#tiles.get(`${level} ${number}`)
    if (!hashes) throw new Error(`there is no tile ${number} of level ${level}`)
    return hashes
  }

  async append(leaves: readonly Uint8Array[]): Promise<void> {
    for (const { level, number, hashes } of await appendToTiles(this.size, leaves, this.read)) {
      this.#tiles.set(`${level} ${number}`, hashes)
    }
    this.size += leaves.length
  }

  /** Hashes of all tiles, by level and number. */
  all(): Record<string, string> {
    return Object.fromEntries([...this.#tiles].map(([place, hashes]) => [place, hashes.toString('hex')]).sort())
  }
}
