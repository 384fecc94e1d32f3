import { Bytes } from './bytes.ts'

/** Encodings of values, by their numbers in Parquet. */
export const encodings = { PLAIN: 0, RLE_DICTIONARY: 8 } as const

interface PageBytes {
  readonly uncompressed: number
  readonly compressed: number
}

interface DataPage extends PageBytes {
  /** Entries of lists each; null ones too. */
  readonly values: number
  readonly nulls: number
  readonly rows: number
  readonly encoding: keyof typeof encodings
  readonly definitionBytes: number
  readonly repetitionBytes: number
}

/** What stands before a dictionary of so many values. */
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
 * What stands before a page of the second version, whose values are compressed and whose levels are not.
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

/** A struct of fields in the order of their numbers: whole numbers of 31 bits, and other structs. Source: Thrift's compact protocol. */
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
