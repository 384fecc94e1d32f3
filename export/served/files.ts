import { createWriteStream } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { readLog } from '../../db/queries/mirror/log.ts'
import { copyServed, type ServedRows } from '../../db/queries/mirror/served-rows.ts'
import type { ExportColumn } from '../../db/queries/read/exports.ts'
import type { Installation } from '../../db/queries/sql/installation.ts'
import { seal } from '../part-file.ts'
import { readRows } from './batches.ts'
import type { ServedFile } from './manifest.ts'
import type { Pace } from './pace.ts'
import { openServedParquet } from './parquet.ts'

/** Where parts are written, and how fast. */
export interface Place {
  /** Of everything that is served. */
  readonly folder: string
  /** Of these parts, below it: `agents/snapshot=2026-11-22`. */
  readonly partition: string
  readonly pace: Pace
}

export type Part = Pick<ServedFile, 'path' | 'format' | 'rows' | 'bytes' | 'sha256'>

/** Rows in memory at a time, and of a row group: enough for readers to skip by, few enough to hold. */
const groupRows = 50_000
/** Rows of a file at most: a multiple of them. */
const partRows = 1_000_000
/** Lines asked for at once; bytes after which a page ends. */
const logPage = { limit: 500, maxBytes: 4 * 1024 * 1024 }

/** Parts get their names once they are whole. */
export const writingFolder = '.writing'

/** Writes rows to Parquet files of a million rows at most; none for no rows. */
export async function writeRows(
  client: pg.ClientBase,
  rows: ServedRows,
  columns: readonly ExportColumn[],
  place: Place,
): Promise<Part[]> {
  const parts: Part[] = []
  const temporary = await temporaryPath(place)
  let file: ReturnType<typeof openServedParquet> | undefined
  let count = 0
  const close = async () => {
    if (!file) return
    await file.finish()
    parts.push(await name(temporary, place, parts.length, 'parquet', count))
    file = undefined
    count = 0
  }
  const stream: Readable = client.query(copyTo(copyServed(rows, columns)))
  const open = () => {
    file ??= openServedParquet(temporary, columns)
    return file
  }
  for await (const rows of readRows(stream, () => open().rows, groupRows)) {
    await open().write(rows)
    count += rows
    if (count >= partRows) await close()
    await place.pace(rows)
  }
  await close()
  return parts
}

/** Writes the whole log, a line of /data/log.ndjson a line, compressed with gzip; none for an empty log. */
export async function writeProfiles(
  client: pg.ClientBase,
  place: Place,
  { installation, leftOut }: { installation: Installation; leftOut: (fid: number, cause: unknown) => void },
): Promise<Part[]> {
  const temporary = await temporaryPath(place)
  const gzip = createGzip()
  const file = gzip.pipe(createWriteStream(temporary))
  const ended = new Promise<void>((resolve, reject) => {
    file.once('close', resolve)
    for (const stream of [gzip, file]) stream.once('error', reject)
  })
  ended.catch(() => {}) // it is told of below, once
  let count = 0
  try {
    for (let since = 0; ; ) {
      const { lines, reached } = await readLog(client, { since, ...logPage, installation, leftOut })
      if (reached === since) break
      since = reached
      const written = lines.split('\n').length - 1
      count += written
      if (!gzip.write(lines)) await Promise.race([new Promise((resolve) => gzip.once('drain', resolve)), ended])
      await place.pace(written)
    }
  } finally {
    gzip.end()
    await ended
  }
  return count === 0 ? [] : [await name(temporary, place, 0, 'ndjson.gz', count)]
}

async function temporaryPath({ folder, partition }: Place): Promise<string> {
  await mkdir(join(folder, writingFolder), { recursive: true })
  return join(folder, writingFolder, partition.replaceAll('/', ' '))
}

/** The same rows have the same name: a file that is written again is not another one. */
async function name(
  temporary: string,
  { folder, partition }: Place,
  number: number,
  format: Part['format'],
  rows: number,
): Promise<Part> {
  const { bytes, sha256 } = await seal(temporary)
  const path = `${partition}/part-${String(number).padStart(5, '0')}-${sha256.slice(0, 8)}.${format}`
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await rename(temporary, join(folder, path))
  return { path, format, rows, bytes, sha256 }
}
