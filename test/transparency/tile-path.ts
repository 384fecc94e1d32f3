import { perTile, type TileRequest } from '../../transparency/tiles.ts'

/** Path of a tile below `tile/`: the inverse of `parseTilePath`. */
export function tilePathOf({ level, number, width }: TileRequest, isOfEntries = false): string {
  const groups = String(number)
    .padStart(Math.ceil(String(number).length / 3) * 3, '0')
    .match(/\d{3}/g) as string[]
  const name = groups.map((group, at) => (at < groups.length - 1 ? `x${group}/` : group)).join('')
  return `${isOfEntries ? 'entries' : level}/${name}${width === perTile ? '' : `.p/${width}`}`
}
