import type { ColumnChunk, SchemaElement } from 'hyparquet'
import type { Writer } from 'hyparquet-writer'
import { dataHeader, dictionaryHeader, type encodings } from './page-header.ts'
import type { Zstd } from './zstd.ts'

/** Values of one column of a row group, without the nulls, as a page of a Parquet file has them. */
export interface PageValues {
  readonly encoding: keyof typeof encodings
  readonly bytes: Uint8Array
  /** Values before the page that its numbers stand for, and how many they are. */
  readonly dictionary?: { readonly bytes: Uint8Array; readonly count: number }
  /** Of those that have an order. */
  readonly least?: unknown
  readonly greatest?: unknown
}

/** Where the values of a column stand: in which rows, and in lists behind which. */
export interface PageLevels {
  readonly rows: number
  /** Entries of lists each, and rows without any; null ones too. */
  readonly entries: number
  readonly nulls: number
  readonly definition: Uint8Array
  readonly repetition: Uint8Array
}

export interface ColumnKind {
  readonly type: NonNullable<SchemaElement['type']>
  readonly path: readonly string[]
  /** Whether the least and the greatest value help readers to skip it. */
  readonly isOrdered: boolean
}

interface ChunkOptions extends ColumnKind {
  readonly levels: PageLevels
  readonly values: PageValues
  readonly zstd: Zstd
}

/**
 * Writes a column of a row group as one page, behind a dictionary where there is one.
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
