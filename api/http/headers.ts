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
