const first = 4_096

/** Bytes that grow, numbers with their lowest byte first. */
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

  /** Sets bits of the last byte. */
  orLast(bits: number): void {
    this.#buffer[this.#length - 1] = (this.#buffer[this.#length - 1] as number) | bits
  }

  /** Seven bits a byte, the lowest first: LEB128 of a number of 32 bits without a sign. */
  varint(value: number): void {
    let rest = value
    for (; rest > 0x7f; rest >>>= 7) this.byte((rest & 0x7f) | 0x80)
    this.byte(rest)
  }

  /** A part of `text`, preceded by its length in four bytes, lowest first. */
  counted(text: Buffer, from: number, to: number): void {
    this.#make(4 + to - from)
    this.#length = this.#buffer.writeInt32LE(to - from, this.#length)
    this.#length += text.copy(this.#buffer, this.#length, from, to)
  }

  /** Whether others stand at a place. */
  isAt(place: number, text: Buffer, from: number, to: number): boolean {
    const buffer = this.#buffer
    for (let at = from; at < to; at++) if (text[at] !== buffer[place + at - from]) return false
    return true
  }

  /** The bytes until now; the next ones begin anew, in the same place. */
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
