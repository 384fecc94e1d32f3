import { Bytes } from './bytes.ts'
import type { PageValues } from './chunk.ts'
import { Hex } from './hex.ts'
import { Numbers, pack } from './numbers.ts'

/** Bytes of the longest value that is looked up in the dictionary; longer ones are hardly ever repeated. */
const longest = 64
/** Slots of the hash table: a power of two, above the rows of a row group. */
const slots = 65_536
/** Slots probed per lookup. A value missed beyond them is stored twice: harmless, and hostile values cannot be slow. */
const probes = 8
/** A hash reads at most twice as many bytes of a value. */
const hashedBytes = 8

interface TextOptions {
  /** Values are practically unique: no dictionary is tried. */
  readonly isOnce: boolean
  /** Whether minimum and maximum are computed. */
  readonly isOrdered: boolean
  /** Values arrive as raw bytes and are written as `0x` and hex digits. */
  readonly isHex: boolean
}

/**
 * Encoder of text columns (UTF-8, or bytes as hex digits). It uses dictionary encoding where that is at most half as
 * long as plain encoding.
 */
export class TextValues {
  /** Values, each behind its length: all of them with `isOnce`, else the distinct ones of the dictionary. */
  readonly #bytes = new Bytes()
  readonly #options: TextOptions
  /** Hash table: in each slot the dictionary index of a value plus one; 0: the slot is free. */
  readonly #numbers: Int32Array
  readonly #starts = new Numbers()
  readonly #ends = new Numbers()
  readonly #rows = new Numbers()
  readonly #page = new Bytes()
  readonly #hex = new Hex()
  #plainBytes = 0

  constructor(options: TextOptions) {
    this.#options = options
    this.#numbers = new Int32Array(options.isOnce ? 0 : slots)
  }

  take(text: Buffer, from: number, to: number): void {
    if (this.#options.isOnce) {
      if (this.#options.isHex) this.#added(text, from, to)
      else this.#bytes.counted(text, from, to)
      return
    }
    this.#plainBytes += this.#options.isHex ? 6 + 2 * (to - from) : 4 + to - from
    this.#rows.push(this.#numberOf(text, from, to))
  }

  #numberOf(text: Buffer, from: number, to: number): number {
    const { length } = this.#rows
    const last = length > 0 ? this.#rows.at(length - 1) : -1
    if (last >= 0 && this.#is(last, text, from, to)) return last
    if (to - from > longest) return this.#added(text, from, to)
    const step = 1 + Math.floor((to - from) / (2 * hashedBytes))
    let hash = 0x811c9dc5 ^ (to - from)
    for (let at = to - 1; at >= from; at -= step) hash = Math.imul(hash ^ (text[at] as number), 0x01000193)
    let slot = (hash ^ (hash >>> 15)) & (slots - 1)
    for (let probe = 0; probe < probes; probe++, slot = (slot + 1) & (slots - 1)) {
      const number = (this.#numbers[slot] as number) - 1
      if (number < 0) {
        const added = this.#added(text, from, to)
        this.#numbers[slot] = added + 1
        return added
      }
      if (this.#is(number, text, from, to)) return number
    }
    return this.#added(text, from, to)
  }

  #is(number: number, text: Buffer, from: number, to: number): boolean {
    const start = this.#starts.at(number)
    return this.#ends.at(number) - start === to - from && this.#bytes.isAt(start, text, from, to)
  }

  #added(text: Buffer, from: number, to: number): number {
    this.#bytes.counted(text, from, to)
    this.#ends.push(this.#bytes.length)
    this.#starts.push(this.#bytes.length - (to - from))
    return this.#starts.length - 1
  }

  finish(): PageValues {
    const starts = this.#starts.taken()
    const ends = this.#ends.taken()
    const taken = this.#bytes.taken()
    const bytes = this.#options.isHex ? this.#hex.of(taken, starts, ends) : taken
    if (this.#options.isOnce) return { encoding: 'PLAIN', bytes }
    const rows = this.#rows.taken()
    const bounds = this.#options.isOrdered ? boundsOf(bytes, starts, ends) : {}
    const bits = Math.ceil(Math.log2(Math.max(starts.length, 1)))
    const isShorter = 2 * (bytes.length + (rows.length * bits) / 8) <= this.#plainBytes
    const plainBytes = this.#plainBytes
    this.#plainBytes = 0
    this.#numbers.fill(0)
    if (!isShorter || rows.length === 0) {
      return { encoding: 'PLAIN', bytes: plain(bytes, starts, { ends, rows, plainBytes }), ...bounds }
    }
    this.#page.byte(bits)
    pack(this.#page, rows, bits)
    const dictionary = { bytes, count: starts.length }
    return { encoding: 'RLE_DICTIONARY', bytes: this.#page.taken(), dictionary, ...bounds }
  }
}

/** All values in plain encoding; that is the dictionary itself where no value was repeated. */
function plain(
  bytes: Buffer,
  starts: Int32Array,
  { ends, rows, plainBytes }: { ends: Int32Array; rows: Int32Array; plainBytes: number },
): Buffer {
  if (bytes.length === plainBytes) return bytes
  const all = Buffer.allocUnsafeSlow(plainBytes)
  let length = 0
  for (const row of rows) length += bytes.copy(all, length, (starts[row] as number) - 4, ends[row])
  return all
}

function boundsOf(bytes: Buffer, starts: Int32Array, ends: Int32Array) {
  if (starts.length === 0) return {}
  const order = (a: number, b: number) => bytes.compare(bytes, starts[b], ends[b], starts[a], ends[a])
  let least = 0
  let greatest = 0
  for (let at = 1; at < starts.length; at++) {
    if (order(at, least) < 0) least = at
    else if (order(at, greatest) > 0) greatest = at
  }
  const copied = (at: number) => Buffer.from(bytes.subarray(starts[at], ends[at]))
  return { least: copied(least), greatest: copied(greatest) }
}
