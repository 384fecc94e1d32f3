import { mkdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { copyServed, type ServedRows } from '../../db/queries/mirror/served-rows.ts'
import { flushFolder, seal } from '../part-file.ts'
import { readRows } from './batches.ts'
import type { ServedFile } from './manifest.ts'
import type { Pace } from './pace.ts'
import { openServedParquet, type ServedColumns } from './parquet.ts'

/** Where the parts of one partition are written, and how fast. */
export interface Place {
  /** Root folder of all served files. */
  readonly folder: string
  /** Folder of these parts, relative to the root: `agents/snapshot=2026-11-22`. */
  readonly partition: string
  readonly pace: Pace
}

export type Part = Pick<
  ServedFile,
  'path' | 'format' | 'rows' | 'bytes' | 'sha256' | 'columns' | 'min_time' | 'max_time'
>

/**
 * Upper bounds of a row group, which a writer holds in memory: rows (enough that skipping row groups is worth while for
 * readers), and bytes, for wide rows.
 */
const group = { rows: 50_000, bytes: 16 * 1024 * 1024 }
/** Rows after which a file is finished and another one begun. */
const partRows = 1_000_000

/** Folder of unfinished parts; they move to their final path once they are complete. */
export const writingFolder = '.writing'

/** Copies rows of a view to Parquet files of about a million rows, through the column buffers; no rows: no file. */
export async function writeRows(
  client: pg.ClientBase,
  rows: ServedRows,
  columns: ServedColumns,
  place: Place,
): Promise<Part[]> {
  const parts = await openParts(columns, place)
  const stream: Readable = client.query(copyTo(copyServed(rows)))
  for await (const count of readRows(stream, columns.rows, group)) await parts.write(count)
  return parts.end()
}

/** Writer for the parts of one partition, fed through the column buffers. */
export async function openParts(columns: ServedColumns, place: Place) {
  const parts: Part[] = []
  const temporary = await temporaryPath(place)
  let file: ReturnType<typeof openServedParquet> | undefined
  let count = 0
  const close = async () => {
    if (!file) return
    const times = await file.finish()
    const part = await namePart(temporary, place, { number: parts.length, format: 'parquet', rows: count })
    parts.push({ ...part, columns: columns.columns.map(({ name }) => name), ...times })
    file = undefined
    count = 0
  }
  return {
    /** Writes what the column buffers hold, `rows` rows, as a row group. */
    async write(rows: number) {
      file ??= openServedParquet(temporary, columns)
      await file.write(rows)
      count += rows
      if (count >= partRows) await close()
      await place.pace(rows)
    },
    async end() {
      await close()
      return parts
    },
  }
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
