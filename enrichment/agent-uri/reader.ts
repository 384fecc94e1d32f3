/** Reads bytes from front to back; undefined where there are too few. */
export interface Reader {
  /** An unsigned varint below 2^28. Source: multiformats/unsigned-varint. */
  varint(): number | undefined
  take(length: number): Uint8Array | undefined
  /** Bytes read so far. */
  at(): number
  done(): boolean
}

export function createReader(bytes: Uint8Array): Reader {
  let at = 0
  return {
    varint() {
      let value = 0
      for (let shift = 0; shift < 28; shift += 7) {
        const byte = bytes[at++]
        if (byte === undefined) return undefined
        value |= (byte & 0x7f) << shift
        if (byte < 0x80) return value
      }
      return undefined
    },
    take(length) {
      if (at + length > bytes.length) return undefined
      at += length
      return bytes.subarray(at - length, at)
    },
    at: () => at,
    done: () => at >= bytes.length,
  }
}

/** A field of a protocol buffer: a number, or bytes. Source: protobuf.dev, "Encoding". */
export type Field = readonly [field: number, value: number | Uint8Array]

/** Undefined: it is none, or has fields of other types. */
export function readFields(bytes: Uint8Array): Field[] | undefined {
  const reader = createReader(bytes)
  const fields: Field[] = []
  while (!reader.done()) {
    const tag = reader.varint()
    if (tag === undefined) return undefined
    const number = reader.varint()
    const type = tag & 7
    const value = type === 0 ? number : type === 2 && number !== undefined ? reader.take(number) : undefined
    if (value === undefined) return undefined
    fields.push([tag >> 3, value])
  }
  return fields
}
