const first = 4_096

/** A growing byte buffer; numbers are written little-endian. */
export class Bytes {
  #buffer = Buffer.allocUnsafeSlow(first)
  #length = 0

  get length(): number {
    return this.#length
  }

  byte(value: number): void {
    this.#make(1)
    this.#buffer[this.#length++] = value
  }

  /** Sets bits in the byte that was written last. */
  orLast(bits: number): void {
    this.#buffer[this.#length - 1] = (this.#buffer[this.#length - 1] as number) | bits
  }

  /** Appends an unsigned 32-bit number as LEB128. */
  varint(value: number): void {
    let rest = value
    for (; rest > 0x7f; rest >>>= 7) this.byte((rest & 0x7f) | 0x80)
    this.byte(rest)
  }

  /** Appends a part of `text`, preceded by its length as a little-endian int32. */
  counted(text: Buffer, from: number, to: number): void {
    this.#make(4 + to - from)
    this.#length = this.#buffer.writeInt32LE(to - from, this.#length)
    this.#length += text.copy(this.#buffer, this.#length, from, to)
  }

  /** Whether the bytes at offset `place` equal a part of `text`. */
  isAt(place: number, text: Buffer, from: number, to: number): boolean {
    const buffer = this.#buffer
    for (let at = from; at < to; at++) if (text[at] !== buffer[place + at - from]) return false
    return true
  }

  /** The bytes written so far, and empties the buffer. The next write overwrites them. */
  taken(): Buffer {
    const taken = this.#buffer.subarray(0, this.#length)
    this.#length = 0
    return taken
  }

  #make(room: number): void {
    if (this.#length + room <= this.#buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, this.#length + room))
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
  }
}
