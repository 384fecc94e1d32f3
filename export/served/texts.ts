import { Bytes } from './bytes.ts'
import { type PageValues, packed } from './chunk.ts'

/** Longer ones hardly ever come twice: none of them is looked for. */
const longest = 64
/** A power of two, above the rows of a row group. */
const slots = 65_536
/** Places looked at. One that is not found then stands twice, which is no error, and bounds what chosen texts cost. */
const probes = 8

/** Texts as UTF-8: those of few values as numbers of a dictionary, where that is less than half as long. */
export class TextValues {
  /** All values, or those of the dictionary. */
  readonly #bytes = new Bytes()
  readonly #isOnce: boolean
  /** Of a slot: one more than the number of the value. */
  readonly #numbers: Int32Array
  readonly #starts: number[] = []
  readonly #ends: number[] = []
  #rows: number[] = []
  #plainBytes = 0

  constructor(isOnce: boolean) {
    this.#isOnce = isOnce
    this.#numbers = new Int32Array(isOnce ? 0 : slots)
  }

  take(text: Buffer, from: number, to: number): void {
    if (this.#isOnce) {
      this.#bytes.counted(text, from, to)
      return
    }
    this.#plainBytes += 4 + to - from
    this.#rows.push(to - from > longest ? this.#added(text, from, to) : this.#numberOf(text, from, to))
  }

  #numberOf(text: Buffer, from: number, to: number): number {
    let hash = 0x811c9dc5
    for (let at = from; at < to; at++) hash = Math.imul(hash ^ (text[at] as number), 0x01000193)
    let slot = (hash ^ (hash >>> 15)) & (slots - 1)
    for (let probe = 0; probe < probes; probe++, slot = (slot + 1) & (slots - 1)) {
      const number = (this.#numbers[slot] as number) - 1
      if (number < 0) {
        const added = this.#added(text, from, to)
        this.#numbers[slot] = added + 1
        return added
      }
      const start = this.#starts[number] as number
      if ((this.#ends[number] as number) - start === to - from && this.#bytes.isAt(start, text, from, to)) return number
    }
    return this.#added(text, from, to)
  }

  #added(text: Buffer, from: number, to: number): number {
    this.#bytes.counted(text, from, to)
    this.#ends.push(this.#bytes.length)
    return this.#starts.push(this.#bytes.length - (to - from)) - 1
  }

  finish(): PageValues & { readonly least?: unknown; readonly greatest?: unknown } {
    const bytes = this.#bytes.taken()
    if (this.#isOnce) return { encoding: 'PLAIN', bytes }
    const values = this.#starts.map((start, at) => bytes.subarray(start, this.#ends[at]))
    const [least, greatest] = boundsOf(values)
    const bits = Math.ceil(Math.log2(values.length))
    const rows = this.#rows
    const isShorter = 2 * (bytes.length + (rows.length * bits) / 8) <= this.#plainBytes
    const page: PageValues = isShorter
      ? {
          encoding: 'RLE_DICTIONARY',
          bytes: Buffer.concat([Buffer.of(bits), packed(rows, bits)]),
          dictionary: { bytes, count: values.length },
        }
      : { encoding: 'PLAIN', bytes: this.#plain(bytes) }
    this.#rows = []
    this.#plainBytes = 0
    this.#starts.length = 0
    this.#ends.length = 0
    this.#numbers.fill(0)
    return { ...page, least, greatest }
  }

  /** All values, one after the other; they are the dictionary already where none came twice. */
  #plain(bytes: Buffer): Buffer {
    if (bytes.length === this.#plainBytes) return bytes
    const all = Buffer.allocUnsafeSlow(this.#plainBytes)
    let length = 0
    for (const row of this.#rows) length += bytes.copy(all, length, (this.#starts[row] as number) - 4, this.#ends[row])
    return all
  }
}

function boundsOf(values: readonly Buffer[]): [least: Buffer | undefined, greatest: Buffer | undefined] {
  let [least] = values
  let greatest = least
  for (const value of values) {
    if (least === undefined || value.compare(least) < 0) least = value
    if (greatest === undefined || value.compare(greatest) > 0) greatest = value
  }
  return [least && Buffer.from(least), greatest && Buffer.from(greatest)]
}
