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
  const others: readonly Value[] = [map?.get('s') ?? []].flat() // one code may stand there without a list
  const services = others.flatMap((one) => codeOf(one) ?? []).slice(0, maxServices)
  if (facilitator === null && app === null && services.length === 0) return undefined
  return { facilitator, app, services }
}

/** An item of CBOR that may name somebody; null: one that does not. */
type Value = string | null | readonly Value[]

const codeOf = (value: Value | undefined) =>
  typeof value === 'string' && /^[a-z0-9_]{1,32}$/.test(value) ? value : null

/** Major types of CBOR. Source: RFC 8949, section 3.1. */
const types = { bytes: 2, text: 3, array: 4, map: 5, tag: 6 } as const

/** Decodes a CBOR map, of whose values texts and lists are kept; undefined: the bytes are something else. */
function readMap(bytes: Buffer): Map<string, Value> | undefined {
  const reader = new Reader(bytes)
  const map = new Map<string, Value>()
  const { type, count = 0 } = reader.head() ?? {}
  if (type !== types.map) return undefined
  for (let pair = 0; pair < count; pair++) {
    const key = reader.value()
    const value = reader.value()
    if (key === undefined || value === undefined) return undefined
    if (typeof key === 'string') map.set(key, value)
  }
  return reader.isAtEnd ? map : undefined
}

/** Each item takes a byte at least, so what is read, and how deep, is bounded by the map's length. */
class Reader {
  #at = 0

  constructor(private readonly bytes: Buffer) {}

  get isAtEnd(): boolean {
    return this.#at === this.bytes.length
  }

  /** Type of the item that begins here, and its count or number. Undefined: the bytes end, or it is of unknown length. */
  head(): { type: number; count: number } | undefined {
    const first = this.#take(1)?.[0]
    if (first === undefined) return undefined
    const type = first >> 5
    const small = first & 31
    if (small < 24) return { type, count: small }
    const digits = small < 28 ? this.#take(2 ** (small - 24))?.toString('hex') : undefined
    return digits === undefined ? undefined : { type, count: Number.parseInt(digits, 16) }
  }

  /** The item that begins here. Undefined: the bytes end before it does. */
  value(): Value | undefined {
    const head = this.head()
    if (!head) return undefined
    const { type, count } = head
    if (type === types.text) return this.#take(count)?.toString('utf8')
    if (type === types.bytes) return this.#take(count) && null
    if (type === types.array) return this.#values(count)
    if (type === types.map) return this.#values(2 * count) && null
    return type === types.tag ? this.value() : null
  }

  #values(count: number): Value[] | undefined {
    const values: Value[] = []
    while (values.length < count) {
      const value = this.value()
      if (value === undefined) return undefined
      values.push(value)
    }
    return values
  }

  #take(bytes: number): Buffer | undefined {
    const end = this.#at + bytes
    if (end > this.bytes.length) return undefined
    this.#at = end
    return this.bytes.subarray(end - bytes, end)
  }
}
