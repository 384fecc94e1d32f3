import type { RowSink } from '../batches.ts'
import { Bytes } from './bytes.ts'
import type { PageLevels, PageValues } from './chunk.ts'
import { Numbers, pack, packRun } from './numbers.ts'
import type { TextValues } from './texts.ts'
import type { Values } from './values.ts'

/** Buffer of one column: collects the values of a row group and encodes them for a page. */
export interface Column extends RowSink {
  /** Levels and values taken since the last call. The next `take` overwrites them. */
  finish(): { readonly levels: PageLevels; readonly values: PageValues }
}

/** A column with at most one value per row. */
export class FlatColumn implements Column {
  readonly #values: Values
  readonly #nulls = new Numbers()
  readonly #definition = new Bytes()
  #rows = 0

  constructor(values: Values) {
    this.#values = values
  }

  take(text: Buffer, from: number, to: number): void {
    this.#rows++
    this.#values.take(text, from, to)
  }

  skip(): void {
    this.#nulls.push(this.#rows++)
  }

  finish() {
    const nulls = this.#nulls.taken()
    const rows = this.#rows
    this.#rows = 0
    if (nulls.length === 0) packRun(this.#definition, { number: 1, count: rows, bits: 1 })
    else {
      const present = new Uint8Array(rows).fill(1)
      for (const row of nulls) present[row] = 0
      pack(this.#definition, present, 1)
    }
    const definition = this.#definition.taken()
    const levels = { rows, entries: rows, nulls: nulls.length, definition, repetition: noLevels }
    return { levels, values: this.#values.finish() }
  }
}

const noLevels = new Uint8Array(0)

/**
 * Definition levels of a list column: the row's list is null, the list is empty, the member is null, or it is there.
 */
const defined = { noList: 0, empty: 1, null: 2, member: 3 } as const
const definedBits = 2
/** Header of a binary array: dimensions, null flag, element type, and length and lower bound of the only dimension. */
const arrayHeaderBytes = 20

/** A column with a list of texts per row, read from a Postgres array. */
export class ListColumn implements Column {
  readonly #texts: TextValues
  readonly #defined = new Numbers()
  /** Repetition level of each entry: 0 for the first of a row, else 1. */
  readonly #behind = new Numbers()
  readonly #definition = new Bytes()
  readonly #repetition = new Bytes()
  #rows = 0
  #nulls = 0

  constructor(texts: TextValues) {
    this.#texts = texts
  }

  take(text: Buffer, from: number, to: number): void {
    const dimensions = text.readInt32BE(from)
    if (dimensions > 1) throw new Error('a list of lists has no form in the files')
    this.#rows++
    const members = dimensions === 0 || to - from < arrayHeaderBytes ? 0 : text.readInt32BE(from + 12)
    if (members === 0) this.#entry(defined.empty, 0)
    let at = from + arrayHeaderBytes
    for (let member = 0; member < members; member++) {
      const length = text.readInt32BE(at)
      at += 4
      if (length < 0) {
        this.#entry(defined.null, member)
        continue
      }
      this.#entry(defined.member, member)
      this.#texts.take(text, at, at + length)
      at += length
    }
  }

  skip(): void {
    this.#rows++
    this.#entry(defined.noList, 0)
  }

  finish() {
    const entries = this.#defined.length
    pack(this.#definition, this.#defined.taken(), definedBits)
    pack(this.#repetition, this.#behind.taken(), 1)
    const definition = this.#definition.taken()
    const repetition = this.#repetition.taken()
    const levels = { rows: this.#rows, entries, nulls: this.#nulls, definition, repetition }
    this.#rows = 0
    this.#nulls = 0
    return { levels, values: this.#texts.finish() }
  }

  #entry(level: number, member: number): void {
    this.#defined.push(level)
    this.#behind.push(member > 0 ? 1 : 0)
    if (level < defined.member) this.#nulls++
  }
}
