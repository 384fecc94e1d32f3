import { constants, zstdCompressSync } from 'node:zlib'
import type { ColumnChunk, SchemaElement } from 'hyparquet'
import { fileWriter, ParquetWriter } from 'hyparquet-writer'
import { writeColumn } from 'hyparquet-writer/src/column.js'
import { encodeNestedValues } from 'hyparquet-writer/src/dremel.js'
import { schemaPathResolver } from 'hyparquet-writer/src/schema.js'
import { type ServedForm, servedForm } from '../../db/queries/mirror/served-rows.ts'
import type { ExportColumn } from '../../db/queries/read/exports.ts'
import type { RowSink } from './batches.ts'
import { writeChunk } from './chunk.ts'
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

/**
 * Begins a Parquet file with zstd: dollars are exact decimals, times are UTC with microseconds, arrays are lists. Rows
 * go to `rows`; `write` makes a row group of those since the last time, with the least and the greatest value of columns
 * that have an order.
 *
 * Source: Parquet's logical types; readers from before them find the older names of the same beside them.
 */
export function openServedParquet(path: string, columns: readonly ExportColumn[]) {
  const root: SchemaElement = { name: 'root', num_children: columns.length }
  const writer = fileWriter(path)
  const schema = [root, ...columns.flatMap(elementsOf)]
  const parquet = new ParquetWriter({ writer, schema, codec: 'ZSTD', compressors: { ZSTD: compress } })
  const pathOf = schemaPathResolver(schema)
  const sinks = columns.map((column) => {
    const form = servedForm(column)
    return form === 'texts' ? listSink(column.name) : flatSink(column, form)
  })

  function flatSink({ name }: ExportColumn, form: Exclude<ServedForm, 'texts'>) {
    const element = { name, ...leaves[form] } as SchemaElement
    const values = valuesOf(form, { isOnce: form === 'text' && once.test(name) })
    const hasStatistics = !unordered.test(name)
    let rows = 0
    let nulls: number[] = []
    return {
      take(text: Buffer, from: number, to: number) {
        rows++
        values.take(text, from, to)
      },
      skip: () => void nulls.push(rows++),
      write(): ColumnChunk {
        const { least, greatest, ...page } = values.finish()
        const chunk = { element, rows, nulls, values: page, least, greatest, hasStatistics, compress }
        rows = 0
        nulls = []
        return writeChunk(writer, chunk)
      },
    }
  }

  function listSink(name: string) {
    const treePath = pathOf([name])
    while (treePath.at(-1)?.children[0]) treePath.push(treePath.at(-1)?.children[0] as (typeof treePath)[number])
    const schemaPath = treePath.map(({ element }) => element)
    const column = {
      columnName: name,
      element: schemaPath.at(-1) as SchemaElement,
      schemaPath,
      codec: 'ZSTD' as const,
      compressors: { ZSTD: compress },
      stats: true,
      pageSize: Number.MAX_SAFE_INTEGER,
    }
    let lists: (string[] | null)[] = []
    return {
      take: (text: Buffer, from: number, to: number) => void lists.push(JSON.parse(text.toString('utf8', from, to))),
      skip: () => void lists.push(null),
      write(): ColumnChunk {
        const pageData = encodeNestedValues(treePath, lists)
        lists = []
        return writeColumn({ writer, column, pageData } as unknown as Parameters<typeof writeColumn>[0]).chunk
      },
    }
  }

  return {
    rows: sinks as readonly RowSink[],
    async write(rows: number): Promise<void> {
      const begin = writer.offset
      const chunks = sinks.map((sink) => sink.write())
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
