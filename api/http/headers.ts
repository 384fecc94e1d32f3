import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { RequestHandler } from 'express'

export const requestIdHeader = 'X-Request-Id'

/**
 * What every answer carries: an id of its own, with which errors are logged (a client's own header is
 * ignored), and a header that keeps browsers from guessing its type from its content.
 */
export const giveHeaders: RequestHandler = (_req, res, next) => {
  res.setHeader(requestIdHeader, randomUUID())
  res.setHeader('X-Content-Type-Options', 'nosniff')
  next()
}

export function requestId(res: ServerResponse): string {
  return String(res.getHeader(requestIdHeader))
}

/** Response headers that scripts on other origins may read. */
const exposed = 'ETag, Age, X-Request-Id, Retry-After, RateLimit, RateLimit-Policy'
const preflightMaxAgeSeconds = 600

/**
 * Who may read an answer from a browser. Reads are public and carry no credentials, so any origin may; a preflight
 * and the answer to a write are granted to the site's own origin and to localhost on any port alone.
 */
export function cors(siteUrl: string): RequestHandler {
  const siteOrigin = new URL(siteUrl).origin
  return (req, res, next) => {
    if (req.method === 'GET' || req.method === 'HEAD') {
      res.setHeader('Access-Control-Allow-Origin', '*')
      res.setHeader('Access-Control-Expose-Headers', exposed)
      return next()
    }
    res.vary('Origin')
    const origin = req.get('Origin')
    if (origin !== undefined && (origin === siteOrigin || localhost.test(origin))) {
      res.setHeader('Access-Control-Allow-Origin', origin)
      res.setHeader('Access-Control-Expose-Headers', exposed)
      if (req.method === 'OPTIONS') {
        res.setHeader('Access-Control-Allow-Methods', 'GET, HEAD, POST, DELETE')
        res.setHeader('Access-Control-Allow-Headers', 'Authorization, Content-Type, X-FID, If-None-Match')
        res.setHeader('Access-Control-Max-Age', String(preflightMaxAgeSeconds))
      }
    }
    next()
  }
}

const localhost = /^https?:\/\/localhost(:\d{1,5})?$/
