import http from 'node:http'
import https from 'node:https'
import { pipeline, type Readable, type TransformOptions } from 'node:stream'
import { createGunzip, type ZlibOptions } from 'node:zlib'

interface SourceRequest {
  readonly url: URL
  readonly method: 'GET' | 'POST'
  readonly body?: string
  /** Sent as a bearer token. */
  readonly key?: string
}

export interface SourceAnswer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  /** Unpacked. Whoever does not read it to its end destroys it. */
  readonly body: Readable
}

/** What is unpacked at a time, and how much of it waits for a reader that is busy. */
const unpacking: ZlibOptions & TransformOptions = { chunkSize: 256 * 1024, readableHighWaterMark: 2 * 1024 * 1024 }

/** No answer, or no further piece of one while it is waited for, in so long: the connection is given up. */
export const silenceMs = 30_000
/** An answer that is read as a whole may take so long, however steadily it drips. */
const wholeMs = 180_000

const agents = {
  'http:': new http.Agent({ keepAlive: true, timeout: silenceMs }),
  'https:': new https.Agent({ keepAlive: true, timeout: silenceMs }),
}

/**
 * Asks a Portal, an archive or a node. Resolves with the head of the answer whatever its status; rejects when there is no connection.
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
 * The pieces of an answer. Rejects when none comes for too long while one is waited for: a reader that is busy meanwhile
 * holds the connection up itself.
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
    body.on('error', () => {}) // of a stream nobody reads any more
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

/** The beginning of an answer as text. Rejects when neither that nor its end comes in time. */
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

function unpack(response: http.IncomingMessage): Readable {
  if (response.headers['content-encoding'] !== 'gzip') return response
  // The reader of the unpacked stream sees its errors, those of the connection included.
  return pipeline(response, createGunzip(unpacking), () => {})
}
