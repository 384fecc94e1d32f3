import { hashBytes, subtreeHash } from './hashes.ts'

// A tree in tiles, as C2SP tlog-tiles lays it out: a tile of level 0 has the hashes of 256 entries, one of a level above
// the hashes over 256 full tiles. A tile that is not full yet is the beginning of the full one.

/** Hashes of a full tile, and how many levels of the tree it spans: 2^8. */
export const perTile = 256
export const tileHeight = 8

export interface TilePlace {
  /** 0: of entries. */
  readonly level: number
  /** Number of the tile in its level: 0, 1, 2 … */
  readonly number: number
}

interface Tile extends TilePlace {
  /** At most 256 hashes, one behind the other. */
  readonly hashes: Buffer
}

/** Gives the hashes of a tile, as many as there are. Rejects when there is none. */
export type ReadTile = (place: TilePlace) => Promise<Buffer>

/**
 * The tiles that become longer, or begin, when hashes of entries are appended to a tree of `size` entries.
 *
 * `readTile` is asked for the last tile of each level that is not full, no other.
 */
export async function appendToTiles(
  size: number,
  leafHashes: readonly Uint8Array[],
  readTile: ReadTile,
): Promise<Tile[]> {
  const changed: Tile[] = []
  let coming: readonly Uint8Array[] = leafHashes
  for (let level = 0; coming.length > 0; level++) {
    let count = hashesAt(level, size)
    const above: Buffer[] = []
    for (let taken = 0; taken < coming.length; ) {
      const number = Math.floor(count / perTile)
      const width = count % perTile
      const before = width === 0 ? [] : [(await readTile({ level, number })).subarray(0, width * hashBytes)]
      const more = coming.slice(taken, taken + perTile - width)
      const hashes = Buffer.concat([...before, ...more])
      changed.push({ level, number, hashes })
      if (hashes.length === perTile * hashBytes) above.push(subtreeHash(hashes))
      taken += more.length
      count += more.length
    }
    coming = above
  }
  return changed
}

/** How many hashes the tiles of a level have in a tree of `size` entries. */
function hashesAt(level: number, size: number): number {
  return Math.floor(size / perTile ** level)
}

/** A tile as it is asked for: with how many of its hashes, 1 to 256. */
export interface TileRequest extends TilePlace {
  readonly width: number
}

/**
 * Whether a tree of `size` entries has a tile with so many hashes. The beginning of a longer tile is one, too: it was the
 * end of an earlier tree.
 */
export function hasTile({ level, number, width }: TileRequest, size: number): boolean {
  return number * perTile + width <= hashesAt(level, size)
}

/**
 * The tile that a path below `tile/` names, such as `0/x001/234.p/17`; `entries/…` names what the tile of level 0 is
 * over. Undefined: no such path can be, because there is one way to write each.
 */
export function parseTilePath(path: string): (TileRequest & { readonly isOfEntries: boolean }) | undefined {
  const [, first, thousands, last, part] = pathOfTile.exec(path) ?? []
  if (first === undefined || last === undefined) return undefined
  const number = Number(`${thousands?.replaceAll(/[x/]/g, '') ?? ''}${last}`)
  if (!Number.isSafeInteger(number)) return undefined
  const isOfEntries = first === 'entries'
  return { isOfEntries, level: isOfEntries ? 0 : Number(first), number, width: Number(part ?? perTile) }
}

/** Levels are 0 to 63, widths of parts 1 to 255; groups of three digits, the first group not of zeros if there are more. */
const pathOfTile =
  /^(entries|\d|[1-5]\d|6[0-3])\/((?:x(?!000)\d{3}\/)(?:x\d{3}\/)*)?(\d{3})(?:\.p\/([1-9]|[1-9]\d|1\d\d|2[0-4]\d|25[0-5]))?$/

/** Path of a tile below `tile/`; `isOfEntries`: of what a tile of level 0 is over. The inverse of `parseTilePath`. */
export function tilePath({ level, number, width }: TileRequest, isOfEntries = false): string {
  const digits = String(number)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g) as string[]
  const name = groups.map((group, at) => (at < groups.length - 1 ? `x${group}/` : group)).join('')
  return `${isOfEntries ? 'entries' : level}/${name}${width === perTile ? '' : `.p/${width}`}`
}

/** A bundle of entries as it is served: each behind its length in two bytes. Throws a RangeError for one of 64 KiB or more. */
export function bundleOf(entries: readonly Uint8Array[]): Buffer {
  const parts = entries.flatMap((entry) => {
    const length = Buffer.alloc(2)
    length.writeUInt16BE(entry.length)
    return [length, entry]
  })
  return Buffer.concat(parts)
}

/** The entries in a bundle. Throws when its lengths are not those of so many entries. */
export function entriesIn(bundle: Buffer, count: number): Buffer[] {
  const entries: Buffer[] = []
  let at = 0
  while (entries.length < count && at + 2 <= bundle.length) {
    const end = at + 2 + bundle.readUInt16BE(at)
    entries.push(bundle.subarray(at + 2, end))
    at = end
  }
  if (entries.length !== count || at !== bundle.length) throw new Error(`the bundle is not one of ${count} entries`)
  return entries
}
