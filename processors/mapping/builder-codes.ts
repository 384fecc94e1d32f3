/** Participants that a transaction's calldata names; nothing verifies them. */
export interface BuilderCodes {
  /** Code of the facilitator; null: not named. */
  readonly facilitator: string | null
  /** Code of the seller's app; null: not named. */
  readonly app: string | null
  /** Codes of further participants. */
  readonly services: readonly string[]
}

/** Sixteen bytes that calldata with codes ends with, in hex. */
export const suffixMarker = '8021'.repeat(8)
/** The kind of suffix that is read, in front of the marker. */
const schema = '02'
const lengthDigits = 4
const maxMapBytes = 1_024
const maxServices = 16
/** Longest suffix that is read, in hex digits. */
export const maxSuffixDigits = suffixMarker.length + schema.length + lengthDigits + 2 * maxMapBytes

/**
 * The codes at the end of a transaction's calldata, which belong to all that it paid. Undefined: it ends otherwise, or
 * what stands there does not name anybody.
 *
 * Source: ERC-8021 for the suffix; x402-foundation/x402, specs/extensions/builder_code.md, for the map in schema 2.
 */
export function builderCodesOf(input: string): BuilderCodes | undefined {
  if (!input.endsWith(suffixMarker)) return undefined
  const end = input.length - suffixMarker.length - schema.length - lengthDigits
  if (end < 2 || input.slice(end + lengthDigits, end + lengthDigits + schema.length) !== schema) return undefined
  const bytes = Number.parseInt(input.slice(end, end + lengthDigits), 16)
  const start = end - 2 * bytes
  if (bytes > maxMapBytes || start < 2) return undefined
  const map = readMap(Buffer.from(input.slice(start, end), 'hex'))
  const facilitator = codeOf(map?.get('w'))
  const app = codeOf(map?.get('a'))
  const others = map?.get('s')
  const services = (Array.isArray(others) ? others : []).flatMap((one) => codeOf(one) ?? []).slice(0, maxServices)
  if (facilitator === null && app === null && services.length === 0) return undefined
  return { facilitator, app, services }
}

type Value = string | readonly string[] | undefined

const codeOf = (value: Value) => (typeof value === 'string' && /^[a-z0-9_]{1,32}$/.test(value) ? value : null)

/** Major types of CBOR. Source: RFC 8949, section 3.1. */
const types = { text: 3, array: 4, map: 5 } as const

/** Decodes a CBOR map whose values are texts or lists of texts; undefined: the bytes are something else. */
function readMap(bytes: Buffer): Map<string, Value> | undefined {
  const reader = new Reader(bytes)
  const map = new Map<string, Value>()
  const pairs = reader.head(types.map)
  for (let pair = 0; pairs !== undefined && pair < pairs; pair++) {
    const key = reader.text()
    const value = reader.value()
    if (key === undefined || value === undefined) return undefined
    map.set(key, value)
  }
  return pairs !== undefined && reader.isAtEnd ? map : undefined
}

class Reader {
  #at = 0

  constructor(private readonly bytes: Buffer) {}

  get isAtEnd(): boolean {
    return this.#at === this.bytes.length
  }

  /** The count of an item that begins here and is of this type. */
  head(type: number): number | undefined {
    const first = this.bytes[this.#at]
    if (first === undefined || first >> 5 !== type) return undefined
    const small = first & 31
    this.#at += 1
    if (small < 24) return small
    const size = small - 23 // one byte or two follow; nothing here is longer
    if (size > 2 || this.#at + size > this.bytes.length) return undefined
    this.#at += size
    return this.bytes.readUIntBE(this.#at - size, size)
  }

  text(): string | undefined {
    const length = this.head(types.text)
    if (length === undefined || this.#at + length > this.bytes.length) return undefined
    this.#at += length
    return this.bytes.toString('utf8', this.#at - length, this.#at)
  }

  value(): Value {
    const count = this.head(types.array)
    if (count === undefined) return this.text()
    const list: string[] = []
    for (let item = 0; item < count; item++) {
      const text = this.text()
      if (text === undefined) return undefined
      list.push(text)
    }
    return list
  }
}
