import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { constants, openSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { ExportColumn, ExportRow } from '../db/queries/exports/exports.ts'
import type { ServedColumn } from '../db/queries/exports/served-rows.ts'
import { connectDuckDb, identifier, literal } from './duckdb.ts'
import type { PartFile } from './part-file.ts'
import { csvFields } from './text-file.ts'

/** Where Parquet files are written, and how they are divided. */
export interface ParquetTarget {
  /** The file; with `groupsPerFile` a folder that holds the files. It must not exist yet. */
  readonly path: string
  /** Rows of a row group, which the writer holds in memory: a multiple of 2,048. */
  readonly rowsPerGroup: number
  /** Row groups after which a file is finished and another one begun. Absent: there is one file. */
  readonly groupsPerFile?: number
}

/** A finished file, with the first and last block time of its rows, ISO, if they have any. */
interface ParquetFile {
  readonly path: string
  readonly rows: number
  readonly min_time?: string
  readonly max_time?: string
}

/** Longest row in bytes of CSV; one that is longer is an error. */
const longestRow = 16 * 1024 * 1024

/**
 * Writes rows of CSV to Parquet files, compressed with zstd: dollars of one payment are DECIMAL(18,6) and of several
 * DECIMAL(38,6), of finer amounts the whole millionths, times TIMESTAMP WITH TIME ZONE in microseconds, arrays lists, and numbers that may exceed 64 bits text. Lines
 * end with `\n`; null is an empty field, an empty text `""`, an array JSON. Nothing more is taken from `lines` than DuckDB
 * has read (backpressure). No rows make one file without rows. Throws what `lines` throws, and what DuckDB says of a row; the
 * files are then to be deleted.
 *
 * The rows go through a named pipe next to the files: DuckDB reads files alone, and its own readers of rows cost more.
 */
export async function writeParquet(
  lines: AsyncIterable<Buffer | string>,
  columns: readonly ServedColumn[],
  target: ParquetTarget,
): Promise<ParquetFile[]> {
  const pipe = `${target.path}.pipe`
  await rm(pipe, { force: true })
  await promisify(execFile)('mkfifo', [pipe])
  const db = await connectDuckDb()
  try {
    let isOver = false
    const copying = db.runAndReadAll(copyOf(pipe, columns, target)).finally(() => {
      isOver = true
    })
    const feeding = feed(lines, pipe, () => isOver)
    const [fed, copied] = await Promise.allSettled([feeding, copying])
    // When DuckDB ends first, the pipe breaks: the cause is what DuckDB says.
    if (fed.status === 'rejected' && !(copied.status === 'rejected' && isBroken(fed.reason))) throw fed.reason
    if (copied.status === 'rejected') throw copied.reason
    return (copied.value.getRowObjectsJson() as unknown as WrittenStats[]).map(toFile)
  } finally {
    db.closeSync()
    await rm(pipe, { force: true })
  }
}

/** Writes lines into the pipe once DuckDB has opened it, unless its statement is over before. */
async function feed(lines: AsyncIterable<Buffer | string>, pipe: string, isOver: () => boolean): Promise<void> {
  for (;;) {
    try {
      const fd = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK)
      return await pipeline(lines, new Socket({ fd, readable: false, writable: true }))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENXIO') throw error // ENXIO: nobody reads yet
    }
    if (isOver()) return
    await delay(1)
  }
}

const isBroken = (error: NodeJS.ErrnoException) => error.code === 'EPIPE' || error.code === 'ECONNRESET'

/** Dollars of one payment, which the supply of its token bounds, in 8 bytes. */
const ofPayment = 'DECIMAL(18,6)'
/** Dollars of several: a loan that is paid back and taken again in one transaction makes sums above any supply. */
const ofPayments = 'DECIMAL(38,6)'

function copyOf(pipe: string, columns: readonly ServedColumn[], { path, rowsPerGroup, groupsPerFile }: ParquetTarget) {
  const types = columns.map((column) => `${literal(column.name)}: ${literal(csvType(column))}`)
  const files = groupsPerFile === undefined ? '' : `, row_groups_per_file ${groupsPerFile}`
  const dollars = columns.some(({ name }) => name === 'tx_hash') ? ofPayment : ofPayments
  return `
copy (select ${columns.map((column) => selected(column, dollars)).join(', ')}
        from read_csv(${literal(pipe)}, columns = {${types.join(', ')}}, auto_detect = false, header = false,
                      delim = ',', quote = '"', escape = '"', new_line = '\\n', nullstr = '', allow_quoted_nulls = false,
                      parallel = false, max_line_size = ${longestRow}, buffer_size = ${2 * longestRow}))
  to ${literal(path)} (format parquet, compression zstd, row_group_size ${rowsPerGroup}${files}, return_stats true)`
}

/** The type that a field of CSV is read as. */
function csvType({ type }: ServedColumn): string {
  switch (type) {
    case 'boolean':
      return 'BOOLEAN'
    case 'integer':
      return 'INTEGER'
    case 'bigint':
      return 'BIGINT'
    case 'timestamp with time zone':
      return 'TIMESTAMPTZ'
    case 'numeric(38,0)':
      return 'DECIMAL(38,0)'
    default:
      return 'VARCHAR'
  }
}

function selected({ name, type, isHex }: ServedColumn, dollars: string): string {
  const column = identifier(name)
  if (isHex) return `'0x' || ${column}[3:] as ${column}` // the database writes \x
  if (type === 'numeric' && name.endsWith('amount_usdc'))
    return `regexp_extract(${column}, '^-?[0-9]+([.][0-9]{1,6})?')::${dollars} as ${column}`
  return type === 'text[]' ? `from_json(${column}, '["VARCHAR"]') as ${column}` : column
}

/** What DuckDB says of a file that it wrote. */
interface WrittenStats {
  readonly filename: string
  readonly count: string
  readonly column_statistics: { key: string; value: { key: string; value: string }[] }[]
}

function toFile({ filename, count, column_statistics: columns }: WrittenStats): ParquetFile {
  const times = columns.find(({ key }) => key === '"block_timestamp"')?.value
  const [min, max] = ['min', 'max'].map((bound) => times?.find(({ key }) => key === bound)?.value)
  const file = { path: filename, rows: Number(count) }
  return min && max ? { ...file, min_time: isoOf(min), max_time: isoOf(max) } : file
}

/** ISO time of a time as DuckDB shows it: `2026-03-01 00:00:00.123456+00`. */
const isoOf = (time: string) => new Date(`${time.replace(' ', 'T')}:00`).toISOString()

/** Rows of a row group of an export: enough that skipping row groups is worth while for readers. */
const exportGroupRows = 10_240

/** Opens a Parquet file for the rows of an export, replacing any file there. */
export async function openParquet(path: string, columns: readonly ExportColumn[]): Promise<PartFile> {
  await rm(path, { force: true })
  const lines = new PassThrough()
  const writing = writeParquet(lines, columns, { path, rowsPerGroup: exportGroupRows })
  const failed = writing.then(() => {}) // rejects as soon as nothing more will be read
  failed.catch(() => lines.destroy())
  return {
    async write(rows: readonly ExportRow[]) {
      const text = rows.map((row) => `${csvFields(columns, row)}\n`).join('')
      if (!lines.write(text)) await Promise.race([once(lines, 'drain'), failed])
    },
    async finish() {
      lines.end()
      await writing
    },
  }
}
