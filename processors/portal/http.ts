import http from 'node:http'
import https from 'node:https'
import { pipeline, type Readable, type TransformOptions } from 'node:stream'
import { createGunzip, type ZlibOptions } from 'node:zlib'

export interface PortalRequest {
  readonly url: URL
  readonly method: 'GET' | 'POST'
  readonly body?: string
  /** Sent as a bearer token. */
  readonly key?: string
}

export interface PortalAnswer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  /** Unpacked. Whoever does not read it to its end destroys it. */
  readonly body: Readable
}

/** What is unpacked at a time, and how much of it waits for a reader that is busy. */
const unpacking: ZlibOptions & TransformOptions = { chunkSize: 256 * 1024, readableHighWaterMark: 2 * 1024 * 1024 }

/** No answer, or no further piece of one, for so long: the connection is given up. */
export const silenceMs = 30_000

const agents = {
  'http:': new http.Agent({ keepAlive: true, timeout: silenceMs }),
  'https:': new https.Agent({ keepAlive: true, timeout: silenceMs }),
}

/**
 * Asks the Portal. Resolves with the head of the answer whatever its status; rejects when there is no connection.
 *
 * Node's own client and zlib, not fetch: fetch takes ten times as long over a compressed stream.
 */
export function ask({ url, method, body, key }: PortalRequest): Promise<PortalAnswer> {
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

/** The beginning of an answer as text. */
export async function textOf({ body }: PortalAnswer, maxLength: number): Promise<string> {
  let text = ''
  for await (const piece of body.setEncoding('utf8')) {
    text += piece
    if (text.length >= maxLength) break
  }
  return text.slice(0, maxLength).trim()
}

function unpack(response: http.IncomingMessage): Readable {
  if (response.headers['content-encoding'] !== 'gzip') return response
  // The reader of the unpacked stream sees its errors, those of the connection included.
  return pipeline(response, createGunzip(unpacking), () => {})
}
