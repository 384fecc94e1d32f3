import type { ColumnChunk, DecodedArray, Encoding, SchemaElement } from 'hyparquet'
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js'
import { writePageHeader } from 'hyparquet-writer/src/datapage.js'
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js'
import type { Writer } from 'hyparquet-writer/src/types.js'

/** Values of one column of a row group, without the nulls, as a page of a Parquet file has them. */
export interface PageValues {
  readonly encoding: Encoding
  readonly bytes: Uint8Array
  /** Values before the page that its numbers stand for, and how many they are. */
  readonly dictionary?: { readonly bytes: Uint8Array; readonly count: number }
}

type Compress = (bytes: Uint8Array) => Uint8Array

interface ChunkOptions {
  readonly element: SchemaElement
  readonly rows: number
  /** Places of the rows without a value, ascending. */
  readonly nulls: readonly number[]
  readonly values: PageValues
  readonly least: unknown
  readonly greatest: unknown
  readonly hasStatistics: boolean
  readonly compress: Compress
}

/**
 * Writes a column of a row group as one page, behind a dictionary where there is one; the column is flat and may be null.
 *
 * Source: Apache Parquet, "Data Pages" and "Data encoding definitions".
 */
export function writeChunk(writer: Writer, options: ChunkOptions): ColumnChunk {
  const { element, rows, nulls, values, least, greatest, hasStatistics, compress } = options
  const begin = writer.offset
  let uncompressed = 0
  if (values.dictionary) {
    const { bytes, count } = values.dictionary
    const body = compress(bytes)
    writePageHeader(writer, {
      type: 'DICTIONARY_PAGE',
      uncompressed_page_size: bytes.length,
      compressed_page_size: body.length,
      dictionary_page_header: { num_values: count, encoding: 'PLAIN' },
    })
    uncompressed += writer.offset - begin + bytes.length
    writer.appendBytes(body)
  }
  const pageBegin = writer.offset
  const levels = levelsOf(rows, nulls)
  const body = compress(values.bytes)
  writePageHeader(writer, {
    type: 'DATA_PAGE_V2',
    uncompressed_page_size: levels.length + values.bytes.length,
    compressed_page_size: levels.length + body.length,
    data_page_header_v2: {
      num_values: rows,
      num_nulls: nulls.length,
      num_rows: rows,
      encoding: values.encoding,
      definition_levels_byte_length: levels.length,
      repetition_levels_byte_length: 0,
      is_compressed: true,
    },
  })
  uncompressed += writer.offset - pageBegin + levels.length + values.bytes.length
  writer.appendBytes(levels)
  writer.appendBytes(body)
  const bounds = { null_count: BigInt(nulls.length), min_value: least, max_value: greatest }
  return {
    file_offset: BigInt(begin),
    meta_data: {
      type: element.type as NonNullable<SchemaElement['type']>,
      encodings: [...new Set<Encoding>([...(values.dictionary ? ['PLAIN' as const] : []), values.encoding])],
      path_in_schema: [element.name],
      codec: 'ZSTD',
      num_values: BigInt(rows),
      total_compressed_size: BigInt(writer.offset - begin),
      total_uncompressed_size: BigInt(uncompressed),
      data_page_offset: BigInt(pageBegin),
      ...(values.dictionary && { dictionary_page_offset: BigInt(begin) }),
      ...(hasStatistics && { statistics: bounds as NonNullable<NonNullable<ColumnChunk['meta_data']>['statistics']> }),
    },
  }
}

/** A bit a row: whether it has a value. */
function levelsOf(rows: number, nulls: readonly number[]): Uint8Array {
  const present = new Uint8Array(rows).fill(1)
  for (const row of nulls) present[row] = 0
  return packed(present, 1)
}

/** Numbers of so many bits, runs of one number as a run. */
export function packed(numbers: DecodedArray, bits: number): Uint8Array {
  const writer = new ByteWriter()
  writeRleBitPackedHybrid(writer, numbers, bits)
  return writer.getBytes()
}
