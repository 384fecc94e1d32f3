import { zstdCompressSync } from 'node:zlib'
import type { SchemaElement } from 'hyparquet'
import { fileWriter, ParquetWriter } from 'hyparquet-writer'
import { type ServedForm, servedForm } from '../../db/queries/mirror/served-rows.ts'
import type { ExportColumn } from '../../db/queries/read/exports.ts'
import type { ColumnValues, ReadColumn } from './batches.ts'

/** Dollars have six decimals; eighteen digits are what 64 bits hold. */
const dollars = { precision: 18, scale: 6 }
/** Values that hardly ever come twice: a dictionary of them would be looked for in vain. */
const allDifferent = /(_hash|_nonce|_sha256)$/

/** How a column is read for `openServedParquet`. */
export function readColumn(column: ExportColumn): ReadColumn {
  return { form: servedForm(column), bytes: isAllDifferent(column) }
}

const isAllDifferent = ({ name, type }: ExportColumn) => type === 'text' && allDifferent.test(name)

/**
 * Begins a Parquet file with zstd: dollars are exact decimals, times are UTC with microseconds, arrays are lists. Each
 * batch is a row group, with the least and the greatest value of most columns.
 *
 * Source: Parquet's logical types; readers from before them find the older names of the same beside them.
 */
export function openServedParquet(path: string, columns: readonly ExportColumn[]) {
  const root: SchemaElement = { name: 'root', num_children: columns.length }
  const parquet = new ParquetWriter({
    writer: fileWriter(path),
    schema: [root, ...columns.flatMap(elementsOf)],
    codec: 'ZSTD',
    compressors: { ZSTD: (bytes) => zstdCompressSync(bytes) },
  })
  return {
    async write(batch: readonly ColumnValues[]): Promise<void> {
      const columnData = columns.map((column, at) => ({
        name: column.name,
        data: batch[at] as ColumnValues,
        ...(isAllDifferent(column) && { encoding: 'PLAIN' as const, statistics: false }),
      }))
      await parquet.write({ columnData, rowGroupSize: (batch[0] as ColumnValues).length })
    },
    async finish(): Promise<void> {
      await parquet.finish()
    },
  }
}

const text = {
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  logical_type: { type: 'STRING' },
} as const satisfies Partial<SchemaElement>

const leaves: Record<Exclude<ServedForm, 'texts'>, Partial<SchemaElement>> = {
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
}

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
