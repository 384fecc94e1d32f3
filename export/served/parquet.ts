import type { ColumnChunk, SchemaElement } from 'hyparquet'
import { fileWriter, ParquetWriter } from 'hyparquet-writer'
import { type ServedColumn, type ServedForm, servedForm } from '../../db/queries/mirror/served-rows.ts'
import { type ColumnKind, type PageValues, writeChunk } from './encoding/chunk.ts'
import { type Column, FlatColumn, ListColumn } from './encoding/levels.ts'
import { TextValues } from './encoding/texts.ts'
import { valuesOf } from './encoding/values.ts'
import { Zstd } from './encoding/zstd.ts'

/** DECIMAL type of dollars: six decimals, and the eighteen digits that always fit 64 bits. */
const dollars = { precision: 18, scale: 6 }
/** Columns whose values are practically unique: no dictionary is tried for them. */
const once = /(_hash|_nonce|_sha256|_proof)$/
/** Columns of random values: their minimum and maximum would let no reader skip a row group. */
const unordered = /(_hash|_nonce|_sha256|_proof|_address)$/
/** Column buffers for writing files one after the other; their memory is reused from row group to row group. */
export interface ServedColumns {
  readonly columns: readonly ServedColumn[]
  /** Buffers that collect the next row group, one per column. */
  readonly rows: readonly Column[]
  readonly kinds: readonly ColumnKind[]
  readonly zstd: Zstd
}

/** Allocates empty buffers for these columns. */
export function openColumns(columns: readonly ServedColumn[]): ServedColumns {
  return { columns, rows: columns.map(openColumn), kinds: columns.map(kindOf), zstd: new Zstd() }
}

/**
 * Opens a Parquet file, compressed with zstd: dollars are exact decimals, times are UTC microseconds, arrays are lists.
 * `write` makes a row group of what the column buffers hold, with minimum and maximum of the ordered columns; the
 * buffers must take no row until it resolves.
 *
 * Source: Parquet's logical types; readers from before them find the older names of the same beside them.
 */
export function openServedParquet(path: string, { columns, rows: all, kinds, zstd }: ServedColumns) {
  const root: SchemaElement = { name: 'root', num_children: columns.length }
  const writer = fileWriter(path)
  const timesAt = columns.findIndex(({ name }) => name === 'block_timestamp')
  const times: bigint[] = []
  const parquet = new ParquetWriter({ writer, schema: [root, ...columns.flatMap(elementsOf)], codec: 'ZSTD' })
  return {
    async write(rows: number): Promise<void> {
      const begin = writer.offset
      const chunks: ColumnChunk[] = []
      for (const [at, column] of all.entries()) {
        const finished = column.finish()
        if (at === timesAt) times.push(...boundsOf(finished.values))
        chunks.push(await writeChunk(writer, { ...finished, ...(kinds[at] as ColumnKind), zstd }))
      }
      const bytes = chunks.reduce((sum, { meta_data: meta }) => sum + (meta?.total_uncompressed_size ?? 0n), 0n)
      parquet.num_rows += BigInt(rows)
      parquet.row_groups.push({
        columns: chunks,
        total_byte_size: bytes,
        num_rows: BigInt(rows),
        total_compressed_size: BigInt(writer.offset - begin),
      })
    },
    /** Completes the file; returns the first and last block time of its rows, if they have any. */
    async finish(): Promise<{ readonly min_time?: string; readonly max_time?: string }> {
      await parquet.finish()
      const [first, ...others] = times
      if (first === undefined) return {}
      const [least, greatest] = others.reduce(
        ([low, high], one) => [one < low ? one : low, one > high ? one : high],
        [first, first],
      )
      return { min_time: isoOf(least), max_time: isoOf(greatest) }
    },
  }
}

const boundsOf = ({ least, greatest }: PageValues) =>
  [least, greatest].filter((bound): bound is bigint => typeof bound === 'bigint')
/** ISO time of microseconds since 1970. */
const isoOf = (micros: bigint) => new Date(Number(micros / 1_000n)).toISOString()

function openColumn(column: ServedColumn): Column {
  const { name } = column
  const form = servedForm(column)
  if (form === 'texts') return new ListColumn(new TextValues({ isOnce: false, isOrdered: false, isHex: false }))
  return new FlatColumn(valuesOf(form, { isOnce: once.test(name), isOrdered: !unordered.test(name) }))
}

function kindOf(column: ServedColumn): ColumnKind {
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
  hex: text,
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

/** Schema of a column. Every column is optional, as views do not declare which are never null. */
function elementsOf(column: ServedColumn): SchemaElement[] {
  const { name } = column
  const form = servedForm(column)
  if (form !== 'texts') return [{ name, repetition_type: 'OPTIONAL', ...leaves[form] }]
  return [
    { name, repetition_type: 'OPTIONAL', converted_type: 'LIST', logical_type: { type: 'LIST' }, num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', repetition_type: 'OPTIONAL', ...text },
  ]
}
