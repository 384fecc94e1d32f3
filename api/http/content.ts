import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Response } from 'express'
import Negotiator from 'negotiator'
import { json } from './route.ts'

type Encoding = 'br' | 'gzip' | 'identity'

/** A body in one encoding, with the strong entity tag of exactly these bytes. */
interface Representation {
  readonly encoding: Encoding
  readonly etag: string
  /** Bytes of the body. */
  readonly length: number
  /** The bytes; if a string, latin1 with one byte a character: see `wire`. */
  readonly body: Buffer | string
}

/** Bodies up to this size are copied into one write with their header instead of being passed separately. */
const largestJoined = 65_536

/**
 * A body as it is sent. Node joins a string with its header into one write and passes a buffer in a second one, which
 * costs more than everything else a cached answer takes.
 */
const wire = (bytes: Buffer) => (bytes.length > largestJoined ? bytes : bytes.toString('latin1'))

/** Below this many bytes a compressed body is no smaller than the packets it saves. */
const smallestCompressed = 512

/** A body that is compressed at most once per encoding, off the event loop, when somebody first asks for it. */
export class Content {
  /** Strong entity tag of the body without compression. */
  readonly etag: string
  readonly #digest: string
  readonly #made = new Map<Encoding, Representation | Promise<Representation>>()
  /** Bytes held so far, all encodings together. */
  bytes: number

  constructor(
    /** Media type with its charset. */
    readonly type: string,
    readonly text: Buffer,
    /** URL of the next page of a list; undefined: this is no page of a list, or the last one. */
    readonly next?: string,
    /** Further headers of the answer. */
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    this.#digest = createHash('sha256').update(text).digest('base64url').slice(0, 27)
    this.etag = `"${this.#digest}"`
    this.bytes = 2 * text.length // as it is, and as it is sent
    this.#made.set('identity', represent('identity', text, this.etag))
  }

  in(encoding: Encoding): Representation | Promise<Representation> {
    const wanted = this.text.length < smallestCompressed || isPacked(this.type) ? 'identity' : encoding
    const known = this.#made.get(wanted)
    if (known) return known
    const making = this.#make(wanted).catch((error) => {
      this.#made.delete(wanted)
      throw error
    })
    this.#made.set(wanted, making)
    return making
  }

  async #make(encoding: Encoding): Promise<Representation> {
    const body = await (encoding === 'br' ? compressBrotli(this.text) : compressGzip(this.text, { level: gzipLevel }))
    const made = represent(encoding, body, `"${this.#digest}-${encoding}"`)
    this.#made.set(encoding, made)
    this.bytes += body.length
    return made
  }
}

/** The content of an answer whose text was made here or by the database: JSON in its one spelling, all else as it is. */
export function contentOf(
  type: string,
  text: string,
  next?: string,
  headers?: Readonly<Record<string, string>>,
): Content {
  return new Content(type, isJson(type) ? spellJson(text) : Buffer.from(text), next, headers)
}

export const isJson = (type: string) => /^application\/([\w.-]+[+-])?(nd)?json\b/.test(type)

/**
 * JSON as every answer spells it, whoever wrote it: no space outside of strings, and a newline behind each value, so that
 * it is good for NDJSON as well. The digits of numbers and the characters of strings stay. Postgres writes spaces, and not
 * the same ones for `json` as for `jsonb`. To parse and print the values would take longer and round numbers.
 */
export function spellJson(text: string): Buffer {
  const bytes = Buffer.from(`${text}\n`)
  let from = 0
  let to = 0
  let depth = 0
  while (from < bytes.length) {
    let byte = bytes[from++] as number
    const endsValue = byte === newline && depth === 0 && to > 0 && bytes[to - 1] !== newline
    if (byte <= space && !endsValue) continue
    bytes[to++] = byte
    if (byte === openBrace || byte === openBracket) depth++
    else if (byte === closeBrace || byte === closeBracket) depth--
    else if (byte === quote) {
      do {
        byte = bytes[from++] as number
        bytes[to++] = byte
        if (byte === backslash) bytes[to++] = bytes[from++] as number
      } while (byte !== quote && from < bytes.length)
    }
  }
  return bytes.subarray(0, to)
}

const newline = 10
const space = 32
const quote = 34
const openBracket = 91
const backslash = 92
const closeBracket = 93
const openBrace = 123
const closeBrace = 125

/** A value as the text of a JSON answer. */
export const jsonText = (value: unknown) => `${JSON.stringify(value)}\n`

/** Answers, once, with a value as JSON that nobody may keep. */
export function sendJson(res: Response, value: unknown): void {
  res.set('Cache-Control', 'no-store').set('Content-Type', json).send(jsonText(value))
}

/** Whether it is compressed already: raster images are, SVG is not. */
const isPacked = (type: string) => /^image\/(?!svg)/.test(type)

function represent(encoding: Encoding, bytes: Buffer, etag: string): Representation {
  return { encoding, etag, length: bytes.length, body: wire(bytes) }
}

// Quality 5 and level 6: for 3 MB of profiles 0.1 s and 12 % of the size; quality 11 saves a fifth more for 50 times the work.
const brotliQuality = 5
const gzipLevel = 6
const brotli = promisify(brotliCompress)
const compressGzip = promisify<Buffer, { level: number }, Buffer>(gzip)
const compressBrotli = (text: Buffer) =>
  brotli(text, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
      [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    },
  })

/**
 * The encoding an Accept-Encoding header asks for: the one with the highest weight, brotli before gzip when equal.
 * Identity when nothing else is acceptable, even where the header refuses it: an answer is better than none.
 */
export function chooseEncoding(header: string | undefined): Encoding {
  if (header === undefined) return 'identity'
  const known = chosen.get(header)
  if (known) return known
  const encoding = weigh(header)
  if (chosen.size < rememberedHeaders) chosen.set(header, encoding)
  return encoding
}

// Clients send a handful of different headers; the bound keeps inventive ones from filling the memory.
const rememberedHeaders = 256
const chosen = new Map<string, Encoding>()

/** The order among encodings of equal weight. */
const preferred: Encoding[] = ['br', 'gzip', 'identity']

function weigh(header: string): Encoding {
  // An old name of gzip: RFC 9110, 8.4.1.3.
  const headers = { 'accept-encoding': header.toLowerCase().replaceAll('x-gzip', 'gzip') }
  const negotiator = new Negotiator({ headers }) as unknown as Preferring
  return negotiator.encoding(preferred, { preferred }) ?? 'identity'
}

/** What the library has been able to do since 1.0, though its types do not say so yet. */
interface Preferring {
  encoding<E>(available: readonly E[], options: { preferred: readonly E[] }): E | undefined
}
