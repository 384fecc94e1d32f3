import type { Bytes } from './bytes.ts'

const first = 1_024

/** A growing list of 32-bit integers. */
export class Numbers {
  #values = new Int32Array(first)
  #length = 0

  get length(): number {
    return this.#length
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new Int32Array(this.#length * 2)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.#length++] = value
  }

  /** The number at an index. */
  at(place: number): number {
    return this.#values[place] as number
  }

  /** The numbers pushed since the last call; the next ones overwrite them. */
  taken(): Int32Array {
    const taken = this.#values.subarray(0, this.#length)
    this.#length = 0
    return taken
  }
}

/** Numbers per bit-packed group; also the shortest run of equal numbers that is run-length encoded. */
const together = 8

/**
 * Appends numbers in Parquet's RLE/bit-packing hybrid; `bits` per number, at most 24.
 *
 * Source: Apache Parquet, "Run Length Encoding / Bit-Packing Hybrid".
 */
export function pack(into: Bytes, numbers: Int32Array | Uint8Array, bits: number): void {
  let begin = 0
  for (let at = 0; at < numbers.length; ) {
    const number = numbers[at] as number
    let end = at + 1
    while (end < numbers.length && numbers[end] === number) end++
    if (end - at < together && bits > 0) {
      at += together
      continue
    }
    packBits(into, numbers, { begin, end: at, bits })
    packRun(into, { number, count: end - at, bits })
    at = end
    begin = end
  }
  packBits(into, numbers, { begin, end: numbers.length, bits })
}

/** Appends a run-length encoded run: `number`, `count` times. */
export function packRun(into: Bytes, { number, count, bits }: { number: number; count: number; bits: number }): void {
  into.varint(count << 1)
  for (let shift = 0; shift < bits; shift += 8) into.byte((number >>> shift) & 0xff)
}

/** Appends numbers bit-packed, the last group filled up with zeros. */
function packBits(
  into: Bytes,
  numbers: Int32Array | Uint8Array,
  { begin, end, bits }: { begin: number; end: number; bits: number },
): void {
  if (begin >= end) return
  const groups = Math.ceil((end - begin) / together)
  into.varint((groups << 1) | 1)
  let held = 0
  let heldBits = 0
  for (let at = begin; at < begin + groups * together; at++) {
    if (at < end) held |= (numbers[at] as number) << heldBits
    heldBits += bits
    for (; heldBits >= 8; heldBits -= 8) {
      into.byte(held & 0xff)
      held >>>= 8
    }
  }
}
