import type { Bytes } from './bytes.ts'

const first = 1_024

/** Whole numbers of 32 bits that grow. */
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

  /** One that was pushed. */
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

/** Numbers of so many bits that are written together; a run of one number is written as a run from this length on. */
const together = 8

/**
 * Writes numbers of so many bits, at most 24, runs of one number as a run.
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

/** A run of equal numbers: the number, and how often. */
export function packRun(into: Bytes, { number, count, bits }: { number: number; count: number; bits: number }): void {
  into.varint(count << 1)
  for (let shift = 0; shift < bits; shift += 8) into.byte((number >>> shift) & 0xff)
}

/** The last ones are filled up with zeros. */
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
