/** Takes the values of one column, row by row. `text` is the COPY's buffer, valid only during the call. */
export interface RowSink {
  take(text: Buffer, from: number, to: number): void
  /** Takes a null. */
  skip(): void
}

const signature = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1')
/** Length of the header: the signature, flags, and the length of an extension that no server sends yet. */
const headerBytes = signature.length + 8

/**
 * Reads a binary COPY into columns. Yields the number of rows read since the last yield, whenever there are `most.rows`
 * rows or `most.bytes` bytes, and at the end. Nothing more is read until the consumer asks, so that a slow consumer
 * slows the server down (backpressure). Throws when the bytes are no COPY with so many columns, or end early.
 *
 * Source: Postgres, "COPY, Binary Format".
 */
export async function* readRows(
  copy: AsyncIterable<Buffer>,
  sinks: readonly RowSink[],
  most: { readonly rows: number; readonly bytes: number },
): AsyncGenerator<number> {
  let rest: Buffer = Buffer.alloc(0)
  let isBegun = false
  let isEnded = false
  let rows = 0
  let bytes = 0
  for await (const piece of copy) {
    for (const text of joined(rest, piece, isBegun ? sinks.length : undefined)) {
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
        if (text.length < at + 2) break
        if (text.readInt16BE(at) === -1) {
          isEnded = true
          break
        }
        const end = endOfRow(text, at, sinks.length)
        if (end === undefined) break
        takeRow(text, at + 2, sinks)
        bytes += end - at
        at = end
        if (++rows === most.rows || bytes >= most.bytes) {
          yield rows
          rows = 0
          bytes = 0
        }
      }
      rest = text.subarray(at)
    }
  }
  if (!isEnded) throw new Error('the COPY ended in its middle')
  if (rows > 0) yield rows
}

/** Bytes copied first to complete a row that two pieces share: most rows are shorter. */
const rowBytes = 2_048

/**
 * Joins the rest of a row to the next piece: the row alone and the piece's other rows uncopied; else all in one buffer.
 */
function joined(rest: Buffer, piece: Buffer, columns: number | undefined): Buffer[] {
  if (rest.length === 0) return [piece]
  if (columns !== undefined && piece.length > rowBytes) {
    const first = Buffer.concat([rest, piece.subarray(0, rowBytes)])
    const end = first.readInt16BE(0) === -1 ? undefined : endOfRow(first, 0, columns)
    if (end !== undefined && end > rest.length) return [first.subarray(0, end), piece.subarray(end - rest.length)]
  }
  return [Buffer.concat([rest, piece])]
}

/** Offset behind the row that begins at `begin`; undefined: the row is not complete yet. */
function endOfRow(text: Buffer, begin: number, columns: number): number | undefined {
  const fields = text.readInt16BE(begin)
  if (fields !== columns) throw new Error(`a row has ${fields} fields instead of ${columns}`)
  let at = begin + 2
  for (let field = 0; field < fields; field++) {
    if (at + 4 > text.length) return undefined
    const length = text.readInt32BE(at)
    at += length > 0 ? 4 + length : 4
  }
  return at > text.length ? undefined : at
}

function takeRow(text: Buffer, begin: number, sinks: readonly RowSink[]): void {
  let at = begin
  for (const sink of sinks) {
    const length = text.readInt32BE(at)
    at += 4
    if (length < 0) {
      sink.skip()
      continue
    }
    sink.take(text, at, at + length)
    at += length
  }
}
