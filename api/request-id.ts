import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { RequestHandler } from 'express'

export const requestIdHeader = 'X-Request-Id'

/** Gives every answer an id of its own; errors are logged with it. A client's own header is not taken over. */
export const giveRequestId: RequestHandler = (_req, res, next) => {
  res.setHeader(requestIdHeader, randomUUID())
  next()
}

export function requestId(res: ServerResponse): string {
  return String(res.getHeader(requestIdHeader))
}
