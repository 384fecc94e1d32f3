import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { maxDocumentBytes } from './registration-file.ts'

/**
 * Bytes of a `data:` URI; undefined: it holds none, or more than `maxDocumentBytes`. Tolerates common mistakes: base64
 * in either alphabet and with blanks, JSON announced as base64, percent signs that encode nothing.
 *
 * `enc=gzip`, `br` and `zstd` are compressions that registries' tools add. Source: RFC 2397; for `enc` the ERC-8004
 * scanner's data URI extension.
 */
export function readDataUri(uri: string): Uint8Array | undefined {
  const comma = uri.indexOf(',')
  if (comma < 0) return undefined
  const [, ...parameters] = uri.slice('data:'.length, comma).toLowerCase().split(';')
  const text = uri.slice(comma + 1)
  const isBase64 = parameters.some((parameter) => parameter.trim() === 'base64')
  const bytes = isBase64 && !text.trimStart().startsWith('{') ? fromBase64(text) : fromPercent(text)
  const encoding = parameters.find((parameter) => parameter.startsWith('enc='))?.slice('enc='.length)
  return encoding === undefined ? bytes : inflate(bytes, encoding)
}

function fromBase64(text: string): Uint8Array {
  return Buffer.from(text.replaceAll(/%3d/gi, '=').replaceAll(/\s/g, ''), 'base64')
}

/** Percent-decodes a text, unless it is JSON already: a description may hold a literal "100%25". */
function fromPercent(text: string): Uint8Array {
  if (!text.includes('%') || isJson(text)) return Buffer.from(text)
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

function inflate(bytes: Uint8Array, encoding: string): Uint8Array | undefined {
  // What would inflate beyond this bound is a decompression bomb.
  const options = { maxOutputLength: maxDocumentBytes }
  try {
    if (encoding === 'gzip') return gunzipSync(bytes, options)
    if (encoding === 'br') return brotliDecompressSync(bytes, options)
    if (encoding === 'zstd') return zstdDecompressSync(bytes, options)
    return undefined
  } catch {
    return undefined
  }
}
