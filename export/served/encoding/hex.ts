/** The two digits of a byte as they stand in memory: the first in the lower byte. */
const digits = Uint16Array.from({ length: 256 }, (_, byte) =>
  Buffer.from(byte.toString(16).padStart(2, '0')).readUInt16LE(),
)
/** Each text, its digits and its length are pairs of bytes. */
const prefix = Buffer.from('0x').readUInt16LE()

/** Makes texts of 0x and digits of bytes, in room that it keeps. */
export class Hex {
  #room = new Uint16Array(0)

  /**
   * The texts, each behind its length, of bytes behind theirs; `starts` and `ends` are where the bytes stand, one after
   * another, and become where the texts do. They are overwritten by the next ones.
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
