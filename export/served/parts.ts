import { mkdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { copyServed, type ServedRows } from '../../db/queries/mirror/served-rows.ts'
import { seal } from '../part-file.ts'
import { readRows } from './batches.ts'
import type { ServedFile } from './manifest.ts'
import type { Pace } from './pace.ts'
import { openServedParquet, type ServedColumns } from './parquet.ts'

/** Where parts are written, and how fast. */
export interface Place {
  /** Of everything that is served. */
  readonly folder: string
  /** Of these parts, below it: `agents/snapshot=2026-11-22`. */
  readonly partition: string
  readonly pace: Pace
}

export type Part = Pick<ServedFile, 'path' | 'format' | 'rows' | 'bytes' | 'sha256'>

/**
 * Of a row group, and so what a writer holds: enough rows for readers to skip by, few enough to hold, and no more bytes
 * than these whatever the rows are.
 */
const group = { rows: 50_000, bytes: 16 * 1024 * 1024 }
/** Rows of a file, after which another one begins. */
const partRows = 1_000_000

/** Parts get their names once they are whole. */
export const writingFolder = '.writing'

/** Writes rows, which go into the columns of their view, to Parquet files of a million rows at most; none for no rows. */
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

/** Parts of one partition, one after the other, of what the columns are given. */
export async function openParts(columns: ServedColumns, place: Place) {
  const parts: Part[] = []
  const temporary = await temporaryPath(place)
  let file: ReturnType<typeof openServedParquet> | undefined
  let count = 0
  const close = async () => {
    if (!file) return
    await file.finish()
    parts.push(await namePart(temporary, place, { number: parts.length, format: 'parquet', rows: count }))
    file = undefined
    count = 0
  }
  return {
    /** Makes a row group of what the columns were given: so many rows. */
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

/** Of the part of a partition that is being written. */
export async function temporaryPath({ folder, partition }: Place): Promise<string> {
  await mkdir(join(folder, writingFolder), { recursive: true })
  return join(folder, writingFolder, partition.replaceAll('/', ' '))
}

/** The same rows have the same name: a file that is written again is not another one. */
export async function namePart(
  temporary: string,
  { folder, partition }: Place,
  { number, format, rows }: Pick<Part, 'format' | 'rows'> & { readonly number: number },
): Promise<Part> {
  const { bytes, sha256 } = await seal(temporary)
  const path = `${partition}/part-${String(number).padStart(5, '0')}-${sha256.slice(0, 8)}.${format}`
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await rename(temporary, join(folder, path))
  return { path, format, rows, bytes, sha256 }
}
