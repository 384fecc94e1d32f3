import type { ColumnChunk, SchemaElement } from 'hyparquet'
import type { Writer } from 'hyparquet-writer'
import { dataHeader, dictionaryHeader, type encodings } from './page-header.ts'
import type { Zstd } from './zstd.ts'

/** Values of one column of a row group, without nulls, encoded as the body of a Parquet page. */
export interface PageValues {
  readonly encoding: keyof typeof encodings
  readonly bytes: Uint8Array
  /** Dictionary page that the indices in `bytes` point into, and its number of values; absent: plain encoding. */
  readonly dictionary?: { readonly bytes: Uint8Array; readonly count: number }
  /** Least and greatest value, for columns with statistics; absent: no values, or no statistics. */
  readonly least?: unknown
  readonly greatest?: unknown
}

/** Definition and repetition levels of a column in a row group: which rows and list entries its values belong to. */
export interface PageLevels {
  readonly rows: number
  /** Number of levels: one per list entry, and one per row without entries; nulls are counted. */
  readonly entries: number
  readonly nulls: number
  readonly definition: Uint8Array
  readonly repetition: Uint8Array
}

export interface ColumnKind {
  readonly type: NonNullable<SchemaElement['type']>
  readonly path: readonly string[]
  /** Whether to write minimum and maximum, by which readers skip row groups. */
  readonly isOrdered: boolean
}

interface ChunkOptions extends ColumnKind {
  readonly levels: PageLevels
  readonly values: PageValues
  readonly zstd: Zstd
}

/**
 * Writes a column chunk: a dictionary page if there is a dictionary, then all values in one data page.
 *
 * Source: Apache Parquet, "Data Pages" and "Data encoding definitions".
 */
export async function writeChunk(writer: Writer, options: ChunkOptions): Promise<ColumnChunk> {
  const { type, path, levels, values, isOrdered, zstd } = options
  const begin = writer.offset
  let uncompressed = 0
  if (values.dictionary) {
    const { bytes, count } = values.dictionary
    const body = await zstd.frame(bytes)
    writer.appendBytes(dictionaryHeader({ uncompressed: bytes.length, compressed: lengthOf(body), values: count }))
    uncompressed += writer.offset - begin + bytes.length
    for (const piece of body) writer.appendBytes(piece)
  }
  const pageBegin = writer.offset
  const { definition, repetition } = levels
  const levelBytes = definition.length + repetition.length
  const body = await zstd.frame(values.bytes)
  const header = dataHeader({
    uncompressed: levelBytes + values.bytes.length,
    compressed: levelBytes + lengthOf(body),
    values: levels.entries,
    nulls: levels.nulls,
    rows: levels.rows,
    encoding: values.encoding,
    definitionBytes: definition.length,
    repetitionBytes: repetition.length,
  })
  uncompressed += header.length + levelBytes + values.bytes.length
  for (const part of [header, repetition, definition, ...body]) writer.appendBytes(part)
  const bounds = { null_count: BigInt(levels.nulls), min_value: values.least, max_value: values.greatest }
  return {
    file_offset: BigInt(begin),
    meta_data: {
      type,
      encodings: values.dictionary ? ['PLAIN', values.encoding] : [values.encoding],
      path_in_schema: [...path],
      codec: 'ZSTD',
      num_values: BigInt(levels.entries),
      total_compressed_size: BigInt(writer.offset - begin),
      total_uncompressed_size: BigInt(uncompressed),
      data_page_offset: BigInt(pageBegin),
      ...(values.dictionary && { dictionary_page_offset: BigInt(begin) }),
      ...(isOrdered && { statistics: bounds as NonNullable<NonNullable<ColumnChunk['meta_data']>['statistics']> }),
    },
  }
}

const lengthOf = (pieces: readonly Uint8Array[]) => pieces.reduce((sum, { length }) => sum + length, 0)
