import http from 'node:http'
import https from 'node:https'
import { pipeline, type Readable, type TransformOptions } from 'node:stream'
import { createGunzip, type ZlibOptions } from 'node:zlib'
import { hideAddresses } from '../hosts/host.ts'
import { isPassing, SourceFailure } from '../hosts/retries.ts'
import { readRetryAfter } from '../hosts/retry-after.ts'

interface SourceRequest {
  readonly url: URL
  readonly method: 'GET' | 'POST'
  readonly body?: string
  /** API key, sent as a bearer token; absent: none is sent. */
  readonly key?: string
}

export interface SourceAnswer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  /** Decompressed body. A caller that does not read it to its end must destroy it. */
  readonly body: Readable
}

/** Decompression: bytes of a chunk, and bytes that are decompressed ahead of a busy reader. */
const unpacking: ZlibOptions & TransformOptions = { chunkSize: 256 * 1024, readableHighWaterMark: 2 * 1024 * 1024 }

/** Milliseconds without the head of an answer, or its next chunk, after which the connection is closed. */
export const silenceMs = 30_000
/** Most characters that are read of an error's text. */
const maxErrorText = 300
/** Deadline in milliseconds for an answer that is read as a whole, however steadily it trickles. */
const wholeMs = 180_000

const agents = {
  'http:': new http.Agent({ keepAlive: true, timeout: silenceMs }),
  'https:': new https.Agent({ keepAlive: true, timeout: silenceMs }),
}

/**
 * Sends a request to a Portal, an archive or a node. Resolves with the head of the answer, whatever its status; rejects
 * when the connection fails.
 *
 * Node's own client and zlib, not fetch: fetch takes ten times as long over a compressed stream.
 */
export function ask({ url, method, body, key }: SourceRequest): Promise<SourceAnswer> {
  const secure = url.protocol === 'https:'
  return new Promise((resolve, reject) => {
    const request = (secure ? https : http).request(url, {
      method,
      agent: agents[secure ? 'https:' : 'http:'],
      headers: {
        accept: 'application/jsonl, application/json',
        'accept-encoding': 'gzip',
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
    })
    const timer = setTimeout(() => request.destroy(new Error(`no answer within ${silenceMs} ms`)), silenceMs)
    request.once('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    request.once('response', (response) => {
      clearTimeout(timer)
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: unpack(response) })
    })
    request.end(body)
  })
}

/**
 * The chunks of an answer. Rejects when the next one does not come within `silenceMs` of being asked for; time in which
 * the reader is busy does not count.
 */
export async function* piecesOf(body: Readable): AsyncGenerator<Buffer, undefined> {
  const pieces = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  try {
    for (;;) {
      const timer = setTimeout(() => body.destroy(new Error(`no data within ${silenceMs} ms`)), silenceMs)
      const { done, value } = await pieces.next().finally(() => clearTimeout(timer))
      if (done) return
      yield value
    }
  } finally {
    body.on('error', () => {}) // of a stream that is no longer read
    body.destroy()
  }
}

/** A whole answer; undefined when it is longer than `maxBytes`. Rejects when it does not end in time. */
export async function bytesOf({ body }: SourceAnswer, maxBytes: number): Promise<Buffer | undefined> {
  const read: Buffer[] = []
  let bytes = 0
  const late = setTimeout(() => body.destroy(new Error(`no whole answer within ${wholeMs} ms`)), wholeMs)
  try {
    for await (const piece of piecesOf(body)) {
      bytes += piece.length
      if (bytes > maxBytes) return undefined
      read.push(piece)
    }
  } finally {
    clearTimeout(late)
  }
  return Buffer.concat(read)
}

/** The first `maxLength` characters of an answer. Rejects when neither these nor its end come within `silenceMs`. */
export async function textOf({ body }: SourceAnswer, maxLength: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  const late = setTimeout(() => body.destroy(new Error(`no whole answer within ${silenceMs} ms`)), silenceMs)
  try {
    for await (const piece of piecesOf(body)) {
      text += decoder.decode(piece, { stream: true })
      if (text.length >= maxLength) break
    }
  } finally {
    clearTimeout(late)
  }
  return text.slice(0, maxLength).trim()
}

/**
 * What is wrong with an answer of another status than was due, in words. Throws it as a SourceFailure when its status or
 * a Retry-After says that another attempt may help.
 */
export async function problemOf(name: string, answer: SourceAnswer): Promise<string> {
  const text = hideAddresses(await textOf(answer, maxErrorText))
  const problem = `${name} answers ${answer.status}${text ? `: ${text}` : ''}`
  const retryAfterMs = readRetryAfter(answer.headers['retry-after'])
  if (isPassing(answer.status) || retryAfterMs !== undefined) throw new SourceFailure(problem, retryAfterMs)
  return problem
}

function unpack(response: http.IncomingMessage): Readable {
  if (response.headers['content-encoding'] !== 'gzip') return response
  // The reader of the unpacked stream sees its errors, those of the connection included.
  return pipeline(response, createGunzip(unpacking), () => {})
}
