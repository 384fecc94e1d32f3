import { Bytes } from './bytes.ts'

/** Encodings of values, with their numbers in parquet.thrift. */
export const encodings = { PLAIN: 0, RLE_DICTIONARY: 8 } as const

interface PageBytes {
  readonly uncompressed: number
  readonly compressed: number
}

interface DataPage extends PageBytes {
  /** Number of levels: list entries count each, and nulls count. */
  readonly values: number
  readonly nulls: number
  readonly rows: number
  readonly encoding: keyof typeof encodings
  readonly definitionBytes: number
  readonly repetitionBytes: number
}

/** Header of a dictionary page with so many values. */
export const dictionaryHeader = ({ uncompressed, compressed, values }: PageBytes & { readonly values: number }) =>
  thrift([
    [1, 2],
    [2, uncompressed],
    [3, compressed],
    [
      7,
      thrift([
        [1, values],
        [2, encodings.PLAIN],
      ]),
    ],
  ])

/**
 * Header of a data page of version 2, whose values are compressed and whose levels are not.
 *
 * Source: Apache Parquet, parquet.thrift, `PageHeader`.
 */
export const dataHeader = (page: DataPage) =>
  thrift([
    [1, 3],
    [2, page.uncompressed],
    [3, page.compressed],
    [
      8,
      thrift([
        [1, page.values],
        [2, page.nulls],
        [3, page.rows],
        [4, encodings[page.encoding]],
        [5, page.definitionBytes],
        [6, page.repetitionBytes],
      ]),
    ],
  ])

const int32Type = 5
const structType = 12

/**
 * Encodes a Thrift struct. Fields come in ascending order of their ids, and are non-negative 31-bit integers or encoded
 * structs. Source: Thrift's compact protocol.
 */
function thrift(fields: readonly (readonly [id: number, value: number | Buffer])[]): Buffer {
  const bytes = new Bytes()
  let before = 0
  for (const [id, value] of fields) {
    const isNumber = typeof value === 'number'
    bytes.byte(((id - before) << 4) | (isNumber ? int32Type : structType))
    if (isNumber) bytes.varint((value << 1) >>> 0)
    else for (const byte of value) bytes.byte(byte)
    before = id
  }
  bytes.byte(0)
  return bytes.taken()
}
