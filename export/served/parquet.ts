import { constants, zstdCompressSync } from 'node:zlib'
import type { SchemaElement } from 'hyparquet'
import { fileWriter, ParquetWriter } from 'hyparquet-writer'
import { type ServedForm, servedForm } from '../../db/queries/mirror/served-rows.ts'
import type { ExportColumn } from '../../db/queries/read/exports.ts'
import { type ColumnKind, writeChunk } from './chunk.ts'
import { type Column, FlatColumn, ListColumn } from './levels.ts'
import { TextValues } from './texts.ts'
import { valuesOf } from './values.ts'

/** Dollars have six decimals; eighteen digits are what 64 bits hold. */
const dollars = { precision: 18, scale: 6 }
/** Values that hardly ever come twice: a dictionary of them would be looked for in vain. */
const once = /(_hash|_nonce|_sha256|_proof)$/
/** Their order says nothing of a file: the least and the greatest of them would let no reader skip it. */
const unordered = /(_hash|_nonce|_sha256|_proof|_address)$/
/** Higher levels take three times as long, and make digits of hashes no smaller. */
const level = { [constants.ZSTD_c_compressionLevel]: 1 }
const compress = (bytes: Uint8Array) =>
  zstdCompressSync(bytes, { params: level, chunkSize: Math.max(bytes.length, constants.Z_MIN_CHUNK) })

/** Columns of files, one file after the other: what they hold of a row group is room that they keep. */
export interface ServedColumns {
  readonly columns: readonly ExportColumn[]
  /** Where the rows of the next row group go. */
  readonly rows: readonly Column[]
  readonly kinds: readonly ColumnKind[]
}

/** Columns that have taken no row yet. */
export function openColumns(columns: readonly ExportColumn[]): ServedColumns {
  return { columns, rows: columns.map(openColumn), kinds: columns.map(kindOf) }
}

/**
 * Begins a Parquet file with zstd: dollars are exact decimals, times are UTC with microseconds, arrays are lists.
 * `write` makes a row group of what the columns have taken, with the least and the greatest value of those that have an
 * order.
 *
 * Source: Parquet's logical types; readers from before them find the older names of the same beside them.
 */
export function openServedParquet(path: string, { columns, rows: all, kinds }: ServedColumns) {
  const root: SchemaElement = { name: 'root', num_children: columns.length }
  const writer = fileWriter(path)
  const parquet = new ParquetWriter({ writer, schema: [root, ...columns.flatMap(elementsOf)], codec: 'ZSTD' })
  return {
    write(rows: number): void {
      const begin = writer.offset
      const chunks = all.map((column, at) => {
        return writeChunk(writer, { ...column.finish(), ...(kinds[at] as ColumnKind), compress })
      })
      const bytes = chunks.reduce((sum, { meta_data: meta }) => sum + (meta?.total_uncompressed_size ?? 0n), 0n)
      parquet.num_rows += BigInt(rows)
      parquet.row_groups.push({
        columns: chunks,
        total_byte_size: bytes,
        num_rows: BigInt(rows),
        total_compressed_size: BigInt(writer.offset - begin),
      })
    },
    async finish(): Promise<void> {
      await parquet.finish()
    },
  }
}

function openColumn(column: ExportColumn): Column {
  const { name } = column
  const form = servedForm(column)
  if (form === 'texts') return new ListColumn(new TextValues({ isOnce: false, isOrdered: false }))
  return new FlatColumn(valuesOf(form, { isOnce: once.test(name), isOrdered: !unordered.test(name) }))
}

function kindOf(column: ExportColumn): ColumnKind {
  const { name } = column
  const form = servedForm(column)
  if (form === 'texts') return { type: text.type, path: [name, 'list', 'element'], isOrdered: false }
  return { type: leaves[form].type, path: [name], isOrdered: !unordered.test(name) }
}

const text = {
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  logical_type: { type: 'STRING' },
} as const satisfies Partial<SchemaElement>

const leaves = {
  text,
  boolean: { type: 'BOOLEAN' },
  integer: { type: 'INT32' },
  bigint: { type: 'INT64' },
  micros: {
    type: 'INT64',
    converted_type: 'DECIMAL',
    ...dollars,
    logical_type: { type: 'DECIMAL', ...dollars },
  },
  time: { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' } },
} as const satisfies Record<Exclude<ServedForm, 'texts'>, Partial<SchemaElement>>

/** Every column may be null: the views do not say which never are. */
function elementsOf(column: ExportColumn): SchemaElement[] {
  const { name } = column
  const form = servedForm(column)
  if (form !== 'texts') return [{ name, repetition_type: 'OPTIONAL', ...leaves[form] }]
  return [
    { name, repetition_type: 'OPTIONAL', converted_type: 'LIST', logical_type: { type: 'LIST' }, num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', repetition_type: 'OPTIONAL', ...text },
  ]
}
