import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { copyServed, type ServedColumn, type ServedRows } from '../../db/queries/exports/served-rows.ts'
import { type ParquetTarget, writeParquet } from '../parquet.ts'
import { flushFolder, seal } from '../part-file.ts'
import type { ServedFile } from './manifest.ts'
import type { Pace } from './pace.ts'

/** Where the parts of one partition are written. */
export interface Place {
  /** Root folder of all served files. */
  readonly folder: string
  /** Folder of these parts, relative to the root: `agents/snapshot=2026-11-22`. */
  readonly partition: string
}

export type Part = Pick<
  ServedFile,
  'path' | 'format' | 'rows' | 'bytes' | 'sha256' | 'columns' | 'min_time' | 'max_time'
>

/**
 * How files of about a million rows are divided: facts into row groups that are worth skipping, state, whose rows may be
 * wide, into fewer rows, since a writer holds a row group in memory.
 */
export const division = {
  days: { rowsPerGroup: 51_200, groupsPerFile: 20 },
  snapshot: { rowsPerGroup: 8_192, groupsPerFile: 122 },
} as const satisfies Record<string, Omit<ParquetTarget, 'path'>>

/** Folder of unfinished parts; they move to their final path once they are complete. */
export const writingFolder = '.writing'

/** The rows of a view as lines of CSV. */
export async function* copiedLines(client: pg.ClientBase, rows: ServedRows, pace: Pace): AsyncGenerator<Buffer> {
  for await (const piece of client.query(copyTo(copyServed(rows))) as AsyncIterable<Buffer>) {
    yield piece
    await pace(lineEnds(piece))
  }
}

/** About the number of rows in a piece: texts may have ends of lines, too. */
function lineEnds(piece: Buffer): number {
  let count = 0
  for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) count++
  return count
}

/** Writes lines of CSV to the Parquet files of a partition; no rows: one file with the columns alone. */
export async function writeRows(
  lines: AsyncIterable<Buffer | string>,
  columns: readonly ServedColumn[],
  place: Place,
  divided: Omit<ParquetTarget, 'path'>,
): Promise<Part[]> {
  const temporary = await temporaryPath(place)
  await rm(temporary, { recursive: true, force: true }) // of a round that was killed
  const files = await writeParquet(lines, columns, { path: temporary, ...divided })
  const names = columns.map(({ name }) => name)
  const parts: Part[] = []
  for (const { path, rows, ...times } of files) {
    const part = await namePart(path, place, { number: parts.length, format: 'parquet', rows })
    parts.push({ ...part, columns: names, ...times })
  }
  return parts
}

/** Path of the partition's part while it is being written; creates its folder. */
export async function temporaryPath({ folder, partition }: Place): Promise<string> {
  await mkdir(join(folder, writingFolder), { recursive: true })
  return join(folder, writingFolder, partition.replaceAll('/', ' '))
}

/** Moves a finished part to its final path, which contains its hash: the same content always gets the same name. */
export async function namePart(
  temporary: string,
  { folder, partition }: Place,
  { number, format, rows }: Pick<Part, 'format' | 'rows'> & { readonly number: number },
): Promise<Part> {
  const { bytes, sha256 } = await seal(temporary)
  const path = `${partition}/part-${String(number).padStart(5, '0')}-${sha256.slice(0, 8)}.${format}`
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await rename(temporary, join(folder, path))
  // The folders may be new, too. A partition is dropped on the word that its parts are on the disk.
  for (let at = partition; at !== '.'; at = dirname(at)) await flushFolder(join(folder, at))
  await flushFolder(folder)
  return { path, format, rows, bytes, sha256 }
}
