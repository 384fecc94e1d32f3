import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, zstdDecompressSync } from 'node:zlib'
import { maxDocumentBytes } from './registration-file.ts'

/**
 * Bytes of a `data:` URI, texts in UTF-8; undefined: it holds none, or more than `maxDocumentBytes`. Tolerates common
 * mistakes: base64 in either alphabet, percent-encoded and with blanks, JSON announced as base64, percent signs that
 * encode nothing.
 *
 * gzip, `br` and `zstd` are compressions that registries' tools add, as `enc`, `encoding` or by no parameter: gzip and zstd
 * are told by their first bytes. Source: RFC 2397; for `enc` the ERC-8004 scanner's data URI extension.
 */
export function readDataUri(uri: string): Uint8Array | undefined {
  const comma = uri.indexOf(',')
  if (comma < 0) return undefined
  const parameters = uri
    .slice('data:'.length, comma)
    .toLowerCase()
    .split(';')
    .map((one) => one.trim())
  const text = uri.slice(comma + 1)
  const named = (...names: string[]) => {
    const found = parameters.map((one) => one.split('=', 2)).find(([name = '']) => names.includes(name))
    return found?.[1]?.replaceAll('"', '').trim()
  }
  const encoding = named('enc', 'encoding', 'content-encoding', 'compression')
  const bytes =
    ((parameters.includes('base64') || encoding === 'base64') && !text.trimStart().startsWith('{')) ||
    isPlainBase64(text)
      ? fromBase64(text)
      : fromPercent(text)
  const unpacked = inflate(bytes, encoding !== undefined && uncompressed.test(encoding) ? undefined : encoding)
  return unpacked && inUtf8(unpacked, named('charset'))
}

/** What else the parameters of a compression are used for: charsets, and how the text is written. */
const uncompressed = /^(utf-?8|(us-)?ascii|identity|none|plain|base64|json)?$/

/** The bytes of a document in base64 without anything that says so; undefined: it is not one. */
export function readBareBase64(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9+/_-]{8,}={0,2}$/.test(text)) return undefined
  const bytes = fromBase64(text)
  const [brace = 0, next = 0] = bytes
  if (brace === 0x7b) return bytes
  return brace === 0x1f && next === 0x8b ? inflate(bytes, undefined) : undefined
}

/** Whether a text that nothing marks as base64 is a document in it. */
const isPlainBase64 = (text: string) => /^(eyJ|ewo|ewog|H4sI)[A-Za-z0-9+/_-]+={0,2}$/.test(text)

function fromBase64(text: string): Uint8Array {
  return Buffer.from(Buffer.from(decoded(text)).toString('latin1').replaceAll(/\s/g, ''), 'base64')
}

function inUtf8(bytes: Uint8Array, charset: string | undefined): Uint8Array {
  if (charset === undefined || /^(utf-?8|us-ascii|ascii)$/.test(charset)) return bytes
  try {
    return Buffer.from(new TextDecoder(charset).decode(bytes))
  } catch {
    return bytes // nobody knows that charset
  }
}

/** Percent-decodes a text, unless it is JSON already: a description may hold a literal "100%25". */
function fromPercent(text: string): Uint8Array {
  return !text.includes('%') || isJson(text) ? Buffer.from(text) : decoded(text)
}

function decoded(text: string): Uint8Array {
  const bytes = Buffer.from(text)
  const decoded: number[] = []
  for (let at = 0; at < bytes.length; at++) {
    const digits = bytes[at] === percent ? bytes.toString('latin1', at + 1, at + 3) : ''
    if (/^[0-9a-f]{2}$/i.test(digits)) {
      decoded.push(Number.parseInt(digits, 16))
      at += 2
    } else decoded.push(bytes[at]!)
  }
  return Uint8Array.from(decoded)
}

const percent = 0x25

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Bytes as they are, or unpacked; undefined: they are not what they are said to be, or a decompression bomb. */
function inflate(bytes: Uint8Array, encoding: string | undefined): Uint8Array | undefined {
  const options = { maxOutputLength: maxDocumentBytes }
  const unpack = unpackers[encoding?.replace(/^x-/, '') ?? magic(bytes)]
  if (!unpack) return encoding === undefined ? bytes : undefined
  try {
    return unpack(bytes, options)
  } catch {
    return undefined
  }
}

const unpackers: Readonly<Record<string, (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array>> = {
  gzip: gunzipSync,
  deflate: inflated,
  zlib: inflated,
  br: brotliDecompressSync,
  brotli: brotliDecompressSync,
  zstd: zstdDecompressSync,
}

/** With the header of zlib or, as some write it, without. */
function inflated(bytes: Uint8Array, options: { maxOutputLength: number }): Uint8Array {
  return bytes[0] === 0x78 ? inflateSync(bytes, options) : inflateRawSync(bytes, options)
}

function magic([first, second]: Uint8Array): string {
  if (first === 0x1f && second === 0x8b) return 'gzip'
  if (first === 0x78 && [0x01, 0x5e, 0x9c, 0xda].includes(second!)) return 'zlib'
  return first === 0x28 && second === 0xb5 ? 'zstd' : ''
}
