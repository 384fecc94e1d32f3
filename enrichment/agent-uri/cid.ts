import { createReader } from './reader.ts'

/** An identifier of content on IPFS, as it was written; the text is valid. */
export interface Cid {
  readonly text: string
  /** How the block is to be read; a number of the multicodec table. */
  readonly codec: number
  /** SHA-256 of the block; undefined: it is named by another hash. */
  readonly sha256: Uint8Array | undefined
}

/** Longest identifier looked at; a CIDv1 of SHA-512 in base32 has 112 characters. */
const maxLength = 128
/** Multicodec: bytes as they are, nodes of a tree. Source: multiformats/multicodec table. */
export const codecs = { raw: 0x55, dagPb: 0x70 } as const
const sha2 = 0x12
const digestBytes = 32

/** Undefined: not a CID of version 0 or 1. Source: multiformats/cid, "Decoding Algorithm". */
export function parseCid(text: string): Cid | undefined {
  if (text.length > maxLength) return undefined
  const isOld = /^Qm[1-9A-HJ-NP-Za-km-z]{44}$/.test(text)
  const bytes = isOld
    ? fromNumber(
        [...text].map((digit) => bases.z!.indexOf(digit)),
        58,
      )
    : multibaseDecode(text)
  const read = bytes && readCid(bytes)
  return read && read.length === bytes.length ? { ...read.cid, text } : undefined
}

/** The identifier at the beginning of some bytes, and how many are its own. Undefined: there is none. */
export function readCid(bytes: Uint8Array): { cid: Omit<Cid, 'text'>; length: number } | undefined {
  if (bytes[0] === sha2 && bytes[1] === digestBytes && bytes.length >= 2 + digestBytes) {
    const length = 2 + digestBytes
    return { cid: { codec: codecs.dagPb, sha256: bytes.subarray(2, length) }, length }
  }
  const reader = createReader(bytes)
  const version = reader.varint()
  const codec = reader.varint()
  const hash = reader.varint()
  const size = reader.varint()
  const digest = size ? reader.take(size) : undefined
  if (version !== 1 || codec === undefined || digest === undefined) return undefined
  const sha256 = hash === sha2 && size === digestBytes ? digest : undefined
  return { cid: { codec, sha256 }, length: reader.at() }
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
