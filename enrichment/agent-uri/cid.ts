/** An identifier of content on IPFS, as it was written; the text is valid. */
export interface Cid {
  readonly text: string
  /** SHA-256 of the content itself, when the identifier is of one raw block; a gateway then need not be trusted. */
  readonly contentSha256: Uint8Array | undefined
}

/** Longest identifier looked at; a CIDv1 of SHA-512 in base32 has 112 characters. */
const maxLength = 128
/** Multicodec: bytes as they are, and the two hashes in use. Source: multiformats/multicodec table. */
const raw = 0x55
const sha2 = 0x12
const digestBytes = 32

/** Undefined: not a CID of version 0 or 1. Source: multiformats/cid, "Decoding Algorithm". */
export function parseCid(text: string): Cid | undefined {
  if (text.length > maxLength) return undefined
  if (/^Qm[1-9A-HJ-NP-Za-km-z]{44}$/.test(text)) return { text, contentSha256: undefined }
  const bytes = multibaseDecode(text)
  if (!bytes) return undefined
  const [version, codec, hash, length, digest] = readHeader(bytes)
  if (version !== 1 || digest === undefined || length === 0 || digest.length !== length) return undefined
  const verifiable = codec === raw && hash === sha2 && length === digestBytes
  return { text, contentSha256: verifiable ? digest : undefined }
}

function readHeader(bytes: Uint8Array) {
  let at = 0
  const varint = () => {
    let value = 0
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = bytes[at++]
      if (byte === undefined) return undefined
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    return undefined
  }
  const header = [varint(), varint(), varint(), varint()] as const
  return [...header, header.includes(undefined) ? undefined : bytes.subarray(at)] as const
}

/** Source: multiformats/multibase. */
const bases: Record<string, string> = {
  b: 'abcdefghijklmnopqrstuvwxyz234567',
  k: '0123456789abcdefghijklmnopqrstuvwxyz',
  f: '0123456789abcdef',
  z: '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz',
}

function multibaseDecode(text: string): Uint8Array | undefined {
  const upper = /^[BKF][0-9A-Z]+$/.test(text)
  const [prefix = '', ...digits] = upper ? text.toLowerCase() : text
  const alphabet = bases[prefix]
  if (!alphabet || digits.length === 0) return undefined
  const values = digits.map((digit) => alphabet.indexOf(digit))
  if (values.includes(-1)) return undefined
  return prefix === 'b' || prefix === 'f'
    ? fromBits(values, prefix === 'b' ? 5 : 4)
    : fromNumber(values, alphabet.length)
}

function fromBits(values: readonly number[], bitsEach: number): Uint8Array {
  const bytes: number[] = []
  let held = 0
  let bits = 0
  for (const value of values) {
    held = (held << bitsEach) | value
    bits += bitsEach
    if (bits >= 8) {
      bits -= 8
      bytes.push((held >> bits) & 0xff)
      held &= (1 << bits) - 1
    }
  }
  return Uint8Array.from(bytes)
}

/** The first digit of a CIDv1 stands for its version byte, so no leading zero is lost. */
function fromNumber(values: readonly number[], base: number): Uint8Array {
  const number = values.reduce((sum, value) => sum * BigInt(base) + BigInt(value), 0n)
  const hex = number.toString(16)
  return Uint8Array.from(Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex'))
}
