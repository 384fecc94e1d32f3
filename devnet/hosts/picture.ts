import { createHash } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'

/** Cells per side, the right half mirroring the left, and pixels per cell. */
const cells = 5
const cellPixels = 24
const side = (cells + 1) * cellPixels

/** An identicon as PNG, always the same for a name: a pattern of squares. */
export function pictureOf(name: string): Buffer {
  const digest = createHash('sha256').update(name).digest()
  const ink = Buffer.from([...digest.subarray(0, 3)].map((byte) => 40 + Math.floor(byte / 2)))
  const paper = Buffer.from([...ink].map((part) => 225 + Math.floor(part / 8)))
  const isInk = (x: number, y: number) => {
    const [column, row] = [x, y].map((place) => Math.floor((place - cellPixels / 2) / cellPixels)) as [number, number]
    if (Math.min(column, row) < 0 || Math.max(column, row) >= cells) return false
    return (digest[3 + row * 3 + Math.min(column, cells - 1 - column)] as number) % 2 === 0
  }
  const lines = Array.from({ length: side }, (_, y) =>
    Buffer.concat([Buffer.alloc(1), ...Array.from({ length: side }, (_, x) => (isInk(x, y) ? ink : paper))]),
  )
  const head = Buffer.alloc(13)
  head.writeUInt32BE(side, 0)
  head.writeUInt32BE(side, 4)
  head.set([8, 2], 8) // bit depth 8, colour type 2 (RGB without a palette)
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(Buffer.concat(lines))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** A PNG chunk with its length and CRC. Source: RFC 2083, 3.2. */
function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, sum])
}
