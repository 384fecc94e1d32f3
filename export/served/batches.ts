import type { ServedForm } from '../../db/queries/mirror/served-rows.ts'

/** Values of one column, in the order of the rows; null where there is none. */
export type ColumnValues = (string | string[] | boolean | number | bigint | Uint8Array | null)[]

/** A column as it is read: `bytes` leaves text as UTF-8, for values that are all different. */
export interface ReadColumn {
  readonly form: ServedForm
  readonly bytes: boolean
}

const signature = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1')
/** Behind the signature: flags, and the length of an extension that no server sends yet. */
const headerBytes = signature.length + 8
/** From 1970 to 2000, where Postgres counts from. */
const epochMicros = 946_684_800_000_000n

/**
 * Reads a binary COPY into columns, at most `rows` of them at a time. A batch is used up before the next is read, so a
 * slow reader holds back the server. Throws when the text is none of a COPY with these columns, or ends in its middle.
 *
 * Source: Postgres, "COPY, Binary Format".
 */
export async function* readBatches(
  copy: AsyncIterable<Buffer>,
  columns: readonly ReadColumn[],
  rows: number,
): AsyncGenerator<ColumnValues[]> {
  let rest: Buffer = Buffer.alloc(0)
  let isBegun = false
  let isEnded = false
  let batch = emptyBatch(columns.length)
  for await (const piece of copy) {
    const text = rest.length > 0 ? Buffer.concat([rest, piece]) : piece
    let at = 0
    if (!isBegun) {
      if (text.length < headerBytes) {
        rest = text
        continue
      }
      if (!text.subarray(0, signature.length).equals(signature)) throw new Error('this is no binary COPY')
      at = headerBytes
      isBegun = true
    }
    while (!isEnded) {
      const end = endOfRow(text, at, columns.length)
      if (end === undefined) break
      if (end === at + 2) {
        isEnded = true
        break
      }
      takeRow(text, at + 2, columns, batch)
      at = end
      if ((batch[0] as ColumnValues).length === rows) {
        yield batch
        batch = emptyBatch(columns.length)
      }
    }
    rest = text.subarray(at)
  }
  if (!isEnded) throw new Error('the COPY ended in its middle')
  if ((batch[0] as ColumnValues).length > 0) yield batch
}

const emptyBatch = (columns: number): ColumnValues[] => Array.from({ length: columns }, () => [])

/** Where the next row begins; two bytes further than this one where it is the mark of the end; undefined: not all is there. */
function endOfRow(text: Buffer, begin: number, columns: number): number | undefined {
  let at = begin + 2
  if (at > text.length) return undefined
  const fields = text.readInt16BE(begin)
  if (fields === -1) return at
  if (fields !== columns) throw new Error(`a row has ${fields} fields instead of ${columns}`)
  for (let field = 0; field < fields; field++) {
    if (at + 4 > text.length) return undefined
    const length = text.readInt32BE(at)
    at += length > 0 ? 4 + length : 4
  }
  return at > text.length ? undefined : at
}

function takeRow(text: Buffer, begin: number, columns: readonly ReadColumn[], batch: ColumnValues[]): void {
  let at = begin
  for (let field = 0; field < columns.length; field++) {
    const length = text.readInt32BE(at)
    at += 4
    const values = batch[field] as ColumnValues
    if (length < 0) {
      values.push(null)
      continue
    }
    values.push(valueIn(columns[field] as ReadColumn, text, at, at + length))
    at += length
  }
}

function valueIn({ form, bytes }: ReadColumn, text: Buffer, from: number, to: number) {
  switch (form) {
    case 'boolean':
      return text[from] === 1
    case 'integer':
      return text.readInt32BE(from)
    case 'bigint':
    case 'micros':
      return text.readBigInt64BE(from)
    case 'time':
      return text.readBigInt64BE(from) + epochMicros
    case 'texts':
      return JSON.parse(text.toString('utf8', from, to)) as string[]
    default:
      return bytes ? text.subarray(from, to) : text.toString('utf8', from, to)
  }
}
