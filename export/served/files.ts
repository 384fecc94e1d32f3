import { createWriteStream } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { readLog } from '../../db/queries/mirror/log.ts'
import { copyServed, nextClaimKeys, type ServedRows } from '../../db/queries/mirror/served-rows.ts'
import type { ExportColumn } from '../../db/queries/read/exports.ts'
import type { Installation } from '../../db/queries/sql/installation.ts'
import { seal } from '../part-file.ts'
import { furtherColumns, type ProofsOf, withProofs } from '../whole-proofs.ts'
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
/** Rows of a file, after which another one begins. */
const partRows = 1_000_000
/** Lines asked for at once; bytes after which a page ends. */
const logPage = { limit: 500, maxBytes: 4 * 1024 * 1024 }

/** Parts get their names once they are whole. */
export const writingFolder = '.writing'

/** Agents whose claims are of a row group: whole proofs are some kilobytes each. */
const proofPageFids = 500

/** Writes rows to Parquet files of a million rows at most; none for no rows. */
export async function writeRows(
  client: pg.ClientBase,
  rows: ServedRows,
  columns: readonly ExportColumn[],
  place: Place,
): Promise<Part[]> {
  const writing = await openParts(columns, place)
  const stream: Readable = client.query(copyTo(copyServed(rows, columns)))
  for await (const count of readRows(stream, writing.sinks, groupRows)) await writing.write(count)
  return writing.end()
}

/**
 * Writes claims with their whole proofs, as `writeRows` does; `columns` are those of the view. A page of agents is read
 * whole before their proofs are asked for, over the same connection.
 */
export async function writeClaims(
  client: pg.ClientBase,
  rows: ServedRows,
  columns: readonly ExportColumn[],
  place: Place,
  proofsOf: ProofsOf,
): Promise<Part[]> {
  const writing = await openParts([...columns, ...furtherColumns('claims')], place)
  for (let after = 0; ; ) {
    const keys = await nextClaimKeys(client, { after, most: proofPageFids })
    const last = keys.at(-1)
    if (!last) break
    const through = Number(last[0])
    const stream: Readable = client.query(copyTo(copyServed({ ...rows, fids: { after, through } }, columns)))
    const ofView = () => writing.sinks().slice(0, columns.length)
    let count = 0
    for await (const read of readRows(stream, ofView, Number.POSITIVE_INFINITY)) count += read
    if (count !== keys.length) throw new Error(`${count} claims instead of ${keys.length} up to FID ${through}`)
    const sink = writing.sinks().at(-1)
    for (const row of await withProofs(client, claimKey, keys, proofsOf)) {
      const proof = row.at(-1)
      const bytes = Buffer.from(String(proof))
      if (proof === null) sink?.skip()
      else sink?.take(bytes, 0, bytes.length)
    }
    await writing.write(count)
    after = through
  }
  return writing.end()
}

const claimKey: readonly ExportColumn[] = [
  { name: 'fid', type: 'text' },
  { name: 'method', type: 'text' },
  { name: 'nonce', type: 'text' },
]

/** Parts of one partition, one after the other. */
async function openParts(columns: readonly ExportColumn[], place: Place) {
  const parts: Part[] = []
  const temporary = await temporaryPath(place)
  let file: ReturnType<typeof openServedParquet> | undefined
  let count = 0
  const open = () => {
    file ??= openServedParquet(temporary, columns)
    return file
  }
  const close = async () => {
    if (!file) return
    await file.finish()
    parts.push(await name(temporary, place, parts.length, 'parquet', count))
    file = undefined
    count = 0
  }
  return {
    sinks: () => open().rows,
    /** Makes a row group of what the sinks were given: so many rows. */
    async write(rows: number) {
      await open().write(rows)
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
