// Protobuf, as far as the network's messages use it: fields of varints and of bytes, no others.

const numberWire = 0
const bytesWire = 2

/** A varint field; no bytes when the value is zero, as proto3 leaves defaults out. */
export function number(field: number, value: number): Uint8Array {
  return value === 0 ? new Uint8Array() : join([varint(field * 8 + numberWire), varint(value)])
}

/** A field of bytes; nothing when there are none, as proto3 leaves defaults out. */
export function bytes(field: number, value: Uint8Array): Uint8Array {
  return value.length === 0 ? value : join([varint(field * 8 + bytesWire), varint(value.length), value])
}

/** A number as a protobuf varint: seven bits a byte, the lowest first, the high bit set in all bytes but the last. */
export function varint(value: number): Uint8Array {
  const groups: number[] = []
  let rest = value
  for (; rest >= 128; rest = Math.floor(rest / 128)) groups.push((rest % 128) + 128)
  return Uint8Array.from([...groups, rest])
}

/** Concatenates encoded fields. */
export function join(parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts)
}

type Fields = ReadonlyMap<number, number | Uint8Array>

/** Value of a varint field; 0 when it is absent, as in proto3. Undefined: the field is no varint. */
export function numberIn(fields: Fields, field: number): number | undefined {
  const value = fields.get(field) ?? 0
  return typeof value === 'number' ? value : undefined
}

/** Value of a field of bytes; empty when it is absent, as in proto3. Undefined: the field is a varint. */
export function bytesIn(fields: Fields, field: number): Uint8Array | undefined {
  const value = fields.get(field) ?? new Uint8Array()
  return typeof value === 'number' ? undefined : value
}

/** Fields of a message by number; the last of a repeated field counts. Undefined: the bytes are no such message. */
export function readFields(bytes: Uint8Array): Fields | undefined {
  const fields = listFields(bytes)
  return fields && new Map(fields)
}

/** Fields of a message in their order. Undefined: the bytes are malformed, or have other kinds of fields. */
export function listFields(bytes: Uint8Array): [number, number | Uint8Array][] | undefined {
  const fields: [number, number | Uint8Array][] = []
  let at = 0
  const next = (): number => {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++]
      if (byte === undefined || scale > 2 ** 49) return Number.NaN
      value += (byte % 128) * scale
      if (byte < 128) return value
    }
  }
  while (at < bytes.length) {
    const tag = next()
    const value = next()
    if (Number.isNaN(tag) || Number.isNaN(value)) return undefined
    const field = Math.floor(tag / 8)
    if (tag % 8 === numberWire) fields.push([field, value])
    else if (tag % 8 === bytesWire && at + value <= bytes.length) {
      fields.push([field, bytes.subarray(at, at + value)])
      at += value
    } else return undefined
  }
  return fields
}
