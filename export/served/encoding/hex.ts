/** The two hex digits of each byte as one little-endian 16-bit number. */
const digits = Uint16Array.from({ length: 256 }, (_, byte) =>
  Buffer.from(byte.toString(16).padStart(2, '0')).readUInt16LE(),
)
/** `0x` as such a number: prefix, digits and lengths are all written as pairs of bytes. */
const prefix = Buffer.from('0x').readUInt16LE()

/** Converts byte strings to `0x` and hex digits, in a buffer that is reused. */
export class Hex {
  #room = new Uint16Array(0)

  /**
   * Converts byte strings, each behind its four-byte length in `bytes`, to texts in the same layout. `starts` and
   * `ends` are the strings' offsets, in ascending order, and are overwritten with the texts'. The next call overwrites
   * the result.
   */
  of(bytes: Buffer, starts: Int32Array, ends: Int32Array): Buffer {
    const pairs = bytes.length - starts.length
    if (this.#room.length < pairs) this.#room = new Uint16Array(2 * pairs)
    const texts = this.#room
    let at = 0
    for (let n = 0; n < starts.length; n++) {
      const from = starts[n] as number
      const to = ends[n] as number
      const length = 2 + 2 * (to - from)
      texts[at] = length & 0xffff
      texts[at + 1] = length >>> 16
      texts[at + 2] = prefix
      at += 3
      starts[n] = 2 * at - 2
      for (let place = from; place < to; place++) texts[at++] = digits[bytes[place] as number] as number
      ends[n] = 2 * at
    }
    return Buffer.from(texts.buffer, 0, 2 * pairs)
  }
}
