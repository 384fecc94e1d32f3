import type { ServedForm } from '../../../db/queries/mirror/served-rows.ts'
import { Bytes } from './bytes.ts'
import type { PageValues } from './chunk.ts'
import { Numbers } from './numbers.ts'
import { TextValues } from './texts.ts'

/** Encoder for a column's non-null values, read from a binary COPY without creating an object per value. */
export interface Values {
  take(text: Buffer, from: number, to: number): void
  /** The values taken since the last call, encoded. The next `take` overwrites them. */
  finish(): PageValues
}

/** Microseconds from 1970 to 2000, Postgres' epoch. */
const epochMicros = 946_684_800_000_000n

/** The encoder for a form; `isOnce`: texts are practically unique; `isOrdered`: minimum and maximum are wanted. */
export function valuesOf(
  form: Exclude<ServedForm, 'texts'>,
  options: { readonly isOnce: boolean; readonly isOrdered: boolean },
): Values {
  switch (form) {
    case 'boolean':
      return new Booleans()
    case 'integer':
      return new Integers()
    case 'bigint':
    case 'micros':
      return new Longs(0n)
    case 'time':
      return new Longs(epochMicros)
    case 'text':
    case 'hex':
      return new TextValues({ ...options, isHex: form === 'hex' })
  }
}

class Booleans implements Values {
  #bytes = new Bytes()
  #count = 0
  #any = [false, false]

  take(text: Buffer, from: number): void {
    const bit = this.#count++ & 7
    const value = text[from] as number
    this.#any[value] = true
    if (bit === 0) this.#bytes.byte(value)
    else this.#bytes.orLast(value << bit)
  }

  finish(): PageValues {
    const [hasFalse, hasTrue] = this.#any
    const bounds = this.#count > 0 ? { least: !hasFalse, greatest: hasTrue } : {}
    this.#count = 0
    this.#any = [false, false]
    return { encoding: 'PLAIN', bytes: this.#bytes.taken(), ...bounds }
  }
}

/** The numbers' bytes as they are in memory: every platform of Node is little-endian, as Parquet is. */
const bytesOf = ({ buffer, byteOffset, byteLength }: Int32Array) => new Uint8Array(buffer, byteOffset, byteLength)

class Integers implements Values {
  readonly #numbers = new Numbers()
  #least = Number.POSITIVE_INFINITY
  #greatest = Number.NEGATIVE_INFINITY

  take(text: Buffer, from: number): void {
    const value = text.readInt32BE(from)
    if (value < this.#least) this.#least = value
    if (value > this.#greatest) this.#greatest = value
    this.#numbers.push(value)
  }

  finish(): PageValues {
    const bounds = this.#least <= this.#greatest ? { least: this.#least, greatest: this.#greatest } : {}
    this.#least = Number.POSITIVE_INFINITY
    this.#greatest = Number.NEGATIVE_INFINITY
    return { encoding: 'PLAIN', bytes: bytesOf(this.#numbers.taken()), ...bounds }
  }
}

/** Encoder of 64-bit integers. It works on 32-bit halves: a BigInt per value would cost more than all the rest. */
class Longs implements Values {
  /** Of each value the low half, unsigned, then the high half. */
  readonly #halves = new Numbers()
  #leastLow = 0
  #leastHigh = 0
  #greatestLow = 0
  #greatestHigh = 0
  readonly #addLow: number
  readonly #addHigh: number

  /** `added` is added to every value. */
  constructor(added: bigint) {
    this.#addLow = Number(added & 0xffff_ffffn)
    this.#addHigh = Number(added >> 32n)
  }

  take(text: Buffer, from: number): void {
    const sum = text.readUInt32BE(from + 4) + this.#addLow
    const low = sum >>> 0
    const high = (text.readInt32BE(from) + this.#addHigh + (sum > 0xffff_ffff ? 1 : 0)) | 0
    const isFirst = this.#halves.length === 0
    if (isFirst || high < this.#leastHigh || (high === this.#leastHigh && low < this.#leastLow)) {
      this.#leastLow = low
      this.#leastHigh = high
    }
    if (isFirst || high > this.#greatestHigh || (high === this.#greatestHigh && low > this.#greatestLow)) {
      this.#greatestLow = low
      this.#greatestHigh = high
    }
    this.#halves.push(low)
    this.#halves.push(high)
  }

  finish(): PageValues {
    const bytes = bytesOf(this.#halves.taken())
    if (bytes.length === 0) return { encoding: 'PLAIN', bytes }
    const whole = (high: number, low: number) => (BigInt(high) << 32n) | BigInt(low)
    const least = whole(this.#leastHigh, this.#leastLow)
    return { encoding: 'PLAIN', bytes, least, greatest: whole(this.#greatestHigh, this.#greatestLow) }
  }
}
