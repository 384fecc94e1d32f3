import type { ServedForm } from '../../db/queries/mirror/served-rows.ts'
import { Bytes } from './bytes.ts'
import type { PageValues } from './chunk.ts'
import { TextValues } from './texts.ts'

/** Values of a column of a row group, taken out of a binary COPY one by one, and none of them made an object. */
interface Values {
  take(text: Buffer, from: number, to: number): void
  /** Those since the last time; the next ones begin anew. */
  finish(): PageValues & { readonly least?: unknown; readonly greatest?: unknown }
}

/** From 1970 to 2000, where Postgres counts from. */
const epochMicros = 946_684_800_000_000n

/** Those of a form; `isOnce`: texts that hardly ever come twice. */
export function valuesOf(form: Exclude<ServedForm, 'texts'>, { isOnce }: { isOnce: boolean }): Values {
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
      return new TextValues(isOnce)
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

  finish() {
    const [hasFalse, hasTrue] = this.#any
    const bounds = this.#count > 0 ? { least: !hasFalse, greatest: hasTrue } : {}
    this.#count = 0
    this.#any = [false, false]
    return { encoding: 'PLAIN' as const, bytes: this.#bytes.taken(), ...bounds }
  }
}

class Integers implements Values {
  #bytes = new Bytes()
  #least = Number.POSITIVE_INFINITY
  #greatest = Number.NEGATIVE_INFINITY

  take(text: Buffer, from: number): void {
    const value = text.readInt32BE(from)
    if (value < this.#least) this.#least = value
    if (value > this.#greatest) this.#greatest = value
    this.#bytes.int32(value)
  }

  finish() {
    const bounds = this.#least <= this.#greatest ? { least: this.#least, greatest: this.#greatest } : {}
    this.#least = Number.POSITIVE_INFINITY
    this.#greatest = Number.NEGATIVE_INFINITY
    return { encoding: 'PLAIN' as const, bytes: this.#bytes.taken(), ...bounds }
  }
}

/** 64 bits as two halves: a BigInt each would cost more than all the rest. */
class Longs implements Values {
  #bytes = new Bytes()
  #count = 0
  #least = [0, 0] as [high: number, low: number]
  #greatest = [0, 0] as [high: number, low: number]
  readonly #addLow: number
  readonly #addHigh: number

  /** `added`: to every value. */
  constructor(added: bigint) {
    this.#addLow = Number(added & 0xffff_ffffn)
    this.#addHigh = Number(added >> 32n)
  }

  take(text: Buffer, from: number): void {
    const sum = text.readUInt32BE(from + 4) + this.#addLow
    const low = sum >>> 0
    const high = (text.readInt32BE(from) + this.#addHigh + (sum > 0xffff_ffff ? 1 : 0)) | 0
    const { 0: leastHigh, 1: leastLow } = this.#least
    const { 0: greatestHigh, 1: greatestLow } = this.#greatest
    if (this.#count === 0 || high < leastHigh || (high === leastHigh && low < leastLow)) this.#least = [high, low]
    if (this.#count === 0 || high > greatestHigh || (high === greatestHigh && low > greatestLow)) {
      this.#greatest = [high, low]
    }
    this.#count++
    this.#bytes.int32(low | 0)
    this.#bytes.int32(high)
  }

  finish() {
    const whole = ([high, low]: [number, number]) => (BigInt(high) << 32n) | BigInt(low)
    const bounds = this.#count > 0 ? { least: whole(this.#least), greatest: whole(this.#greatest) } : {}
    this.#count = 0
    return { encoding: 'PLAIN' as const, bytes: this.#bytes.taken(), ...bounds }
  }
}
