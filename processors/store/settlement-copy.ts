import type { SettlementRow } from '../mapping/settlements.ts'

/** Milliseconds from 1970-01-01, JavaScript's epoch, to 2000-01-01, that of Postgres. */
const epochOffsetMs = 946_684_800_000n
const signature = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1')
/** Header of binary COPY: signature, flags, length of the header's extension. */
export const copyHeader = Buffer.concat([signature, Buffer.alloc(8)])
/** End of binary COPY: a field count of -1. */
export const copyTrailer = Buffer.from([0xff, 0xff])

const columns = 13
const lengthBytes = 4
/** Bytes of a row without the chain's name: the field count, thirteen lengths, and the values. */
const fixedRowBytes = 2 + columns * lengthBytes + 8 + 8 + 4 + 4 + 1 + 4 + 4 * 20 + 2 * 32
/** Rows go out in pieces of this size, so that a large batch is never in memory twice. */
const pieceBytes = 256 * 1024

/**
 * The rows as COPY takes them in binary form, in pieces; the columns are those of `copySettlements`.
 *
 * Source: PostgreSQL documentation, COPY, "Binary Format".
 */
export function* encodeSettlements(rows: readonly SettlementRow[]): Generator<Buffer> {
  yield copyHeader
  yield* encodeRows(rows)
  yield copyTrailer
}

/** Encoded rows of one chain, in pieces, without the header and the trailer. */
export function* encodeRows(rows: readonly SettlementRow[]): Generator<Buffer> {
  for (let from = 0; from < rows.length; ) {
    const chainBytes = Buffer.byteLength((rows[from] as SettlementRow).chain)
    const count = Math.min(rows.length - from, Math.floor(pieceBytes / (fixedRowBytes + chainBytes)))
    const piece = Buffer.allocUnsafe(count * (fixedRowBytes + chainBytes))
    let at = 0
    for (const row of rows.slice(from, from + count)) at = writeRow(piece, at, row)
    yield piece
    from += count
  }
}

/** Writes one row and returns where it ends. */
export function writeRow(piece: Buffer, start: number, row: SettlementRow): number {
  let at = piece.writeInt16BE(columns, start)
  at = piece.writeBigInt64BE(row.amount, piece.writeInt32BE(8, at))
  at = piece.writeBigInt64BE((BigInt(row.blockTimestamp) - epochOffsetMs) * 1000n, piece.writeInt32BE(8, at))
  at = piece.writeInt32BE(row.blockNumber, piece.writeInt32BE(4, at))
  at = piece.writeInt32BE(row.logIndex, piece.writeInt32BE(4, at))
  at = writeText(piece, at, row.chain)
  at = writeText(piece, at, row.selectorSource)
  at = writeHex(piece, at, row.selector)
  at = writeHex(piece, at, row.token)
  at = writeHex(piece, at, row.payer)
  at = writeHex(piece, at, row.recipient)
  at = writeHex(piece, at, row.facilitator)
  at = writeHex(piece, at, row.paymentNonce)
  return writeHex(piece, at, row.txHash)
}

function writeText(piece: Buffer, at: number, text: string): number {
  const start = at + lengthBytes
  const length = piece.write(text, start, 'latin1')
  piece.writeInt32BE(length, at)
  return start + length
}

function writeHex(piece: Buffer, at: number, hex: string): number {
  const start = at + lengthBytes
  const length = piece.write(hex.slice(2), start, 'hex')
  piece.writeInt32BE(length, at)
  return start + length
}
