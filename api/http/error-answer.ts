import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import type { Logger } from 'pino'
import { jsonText } from './content.ts'
import { ApiError, errorTable, invalidRequest } from './errors.ts'
import { requestId } from './headers.ts'
import { refusals } from './parameters.ts'

/**
 * The last middleware: writes every error body, as JSON unless asked otherwise, and logs with its cause what clients
 * are not told: failures, refusals that have a cause, and all refusals of claims. It never logs a body or the client.
 */
export function answerErrors(
  log: Logger,
  write: (res: Response, error: ApiError) => void = writeJson,
): ErrorRequestHandler {
  return (cause, req, res, _next) => {
    const error = toApiError(cause, req)
    res.locals.errorCode = error.code
    const known = { requestId: requestId(res), code: error.code, method: req.method }
    // A limiter that does not work is logged once, by its connection to Redis, not once per request.
    if (error.code === 'ERR_RATE_LIMITER_UNAVAILABLE') log.debug(known, 'refused')
    else if (error.status >= 500) log.error({ ...known, url: req.url, err: cause })
    else if (error.cause !== undefined || isClaim(req)) log.info({ ...known, ...reasonOf(error) }, 'refused')
    // Half an answer has been sent: cutting the connection is the only way left to say that it is incomplete.
    if (res.headersSent) return void res.destroy()
    res.removeHeader('ETag')
    write(res, error)
  }
}

const isClaim = ({ method, originalUrl }: Request) => method === 'POST' && originalUrl.startsWith('/api/claim')

/** What was wrong, in our words and in those of the service that failed. Fields stay out: they repeat what was sent. */
function reasonOf({ detail, cause }: ApiError): { detail?: string; cause?: string } {
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown }
  return { detail, ...(message === undefined ? {} : { cause: [code, message].filter(Boolean).join(': ') }) }
}

function writeJson(res: Response, error: ApiError): void {
  writeError(res, error, { type: 'application/json; charset=utf-8', body: jsonText(error.body) })
}

/** Uses Node only: what Express would find out about a body is already known here, and refusing has to be cheap. */
function writeError(res: Response, { fields, status }: ApiError, { type, body }: { type: string; body: string }): void {
  const { retryAfterSeconds } = fields
  if (typeof retryAfterSeconds === 'number') res.setHeader('Retry-After', String(retryAfterSeconds))
  res.statusCode = status
  res.setHeader('Cache-Control', 'no-store')
  res.setHeader('Content-Type', type)
  res.setHeader('Content-Length', Buffer.byteLength(body))
  res.end(body)
}

/** Path of the page about a code. */
export const errorPagePath = (code: string) => `/docs/errors/${code}`

/**
 * Writes errors as JSON, or as problem details (RFC 9457) for clients that accept only `application/problem+json`:
 * `type` is the page about the code, and all members of the other form are there too.
 */
export function jsonOrProblem(baseUrl: string): (res: Response, error: ApiError) => void {
  return (res, error) => {
    if (!/^\s*application\/problem\+json\s*(;|$)/i.test(res.req.get('Accept') ?? '')) return writeJson(res, error)
    const { code, status, body } = error
    const problem = { type: baseUrl + errorPagePath(code), title: errorTable[code].title, status, ...body }
    writeError(res, error, { type: 'application/problem+json; charset=utf-8', body: jsonText(problem) })
  }
}

/** Errors of Express and of its parsers carry an HTTP status; every other foreign error is ours to answer for. */
function toApiError(cause: unknown, req: Request): ApiError {
  if (cause instanceof ApiError) return cause
  const { status, type, limit } = (cause ?? {}) as { status?: unknown; type?: unknown; limit?: unknown }
  if (typeof status !== 'number' || status < 400 || status > 499) {
    return new ApiError('ERR_INTERNAL')
  }
  if (type === 'entity.too.large') return invalidRequest('body', `must be at most ${limit} bytes`)
  if (typeof type === 'string') return invalidRequest('body', `cannot be read: ${type}`)
  return undecodablePath(req.baseUrl + req.path)
}

/** A path whose percent-encoding is broken names no fid, no address and no resource. */
function undecodablePath(path: string): ApiError {
  if (path.startsWith('/api/agent/')) return refusals.fid()
  if (path.startsWith('/api/by-address/')) return refusals.address()
  return new ApiError('ERR_NOT_FOUND', 'the path is not valid percent-encoding')
}

/** Answers every other method of a known path: OPTIONS with 204 and `Allow`, the rest with ERR_NOT_FOUND. */
export function refuseMethod(methods: readonly string[]): RequestHandler {
  const allow = [...methods, 'OPTIONS'].join(', ')
  return (req, res) => {
    res.setHeader('Allow', allow)
    if (req.method === 'OPTIONS') return void res.status(204).set('Cache-Control', 'no-store').end()
    throw new ApiError('ERR_NOT_FOUND', `${req.method} is not for this path; allowed are ${allow}`)
  }
}

export const refusePath: RequestHandler = (req) => {
  throw new ApiError('ERR_NOT_FOUND', `there is nothing at ${req.baseUrl}${req.path}`)
}
