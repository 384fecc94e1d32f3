import { hashBytes } from './hashes.ts'
import { entriesIn, perTile, type ReadTile, type TilePlace, tilePath } from './tiles.ts'

/** A log has no such file. */
export class NoLogFile extends Error {
  override readonly name = 'NoLogFile'
}

/**
 * Gives the bytes of a file of a log, by its path below the log's address, such as `tile/0/000.p/7`. Rejects with NoLogFile
 * when there is none.
 */
export type ReadLogFile = (path: string) => Promise<Buffer>

/** Tiles of a log of `size` entries, from its files. Rejects when a file has another length than its path says. */
export function tilesOf(size: number, readFile: ReadLogFile): ReadTile {
  return async (place) => {
    const width = widthAt(place, size)
    const path = `tile/${tilePath({ ...place, width })}`
    const hashes = await readFile(path)
    if (hashes.length !== width * hashBytes) throw new Error(`${path} has ${hashes.length} bytes`)
    return hashes
  }
}

/** Entries of the log's file with a number, of 256 each: as many of them as a log of `size` entries has. */
export async function entriesOf(number: number, size: number, readFile: ReadLogFile): Promise<Buffer[]> {
  const width = widthAt({ level: 0, number }, size)
  return entriesIn(await readFile(`tile/${tilePath({ level: 0, number, width }, true)}`), width)
}

/** How many hashes a tile has in a tree of `size` entries. Throws a RangeError when the tree does not have the tile. */
function widthAt({ level, number }: TilePlace, size: number): number {
  const width = Math.min(perTile, Math.floor(size / perTile ** level) - number * perTile)
  if (width < 1) throw new RangeError(`a tree of ${size} has no tile ${number} of level ${level}`)
  return width
}
