import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Express } from 'express'
import type { Logger } from 'pino'
import { portOf } from '../../ops/health.ts'
import { listen } from '../../ops/listen.ts'
import { type ApiError, errorStatus, invalidRequest } from './errors.ts'
import { requestIdHeader } from './headers.ts'

/** Request line and headers together, in bytes. */
const maxHeaderBytes = 16_384
/** Time for the headers, then for the whole request, in milliseconds: slow senders are cut. */
const headersTimeoutMs = 5_000
const requestTimeoutMs = 10_000
/** How often those two are looked at. */
const checkEveryMs = 1_000
/** A connection without a byte in either direction. Above the idle time of common load balancers, 60 s. */
const idleTimeoutMs = 65_000
const maxConnections = 10_000

/** The HTTP server of an app. What Node refuses by itself gets the error body of everything else. */
export function createHttpServer(app: Express): Server {
  const server = createServer(
    { maxHeaderSize: maxHeaderBytes, connectionsCheckingInterval: checkEveryMs, requireHostHeader: false },
    app,
  )
  server.headersTimeout = headersTimeoutMs
  server.requestTimeout = requestTimeoutMs
  server.keepAliveTimeout = idleTimeoutMs
  server.setTimeout(idleTimeoutMs)
  server.maxConnections = maxConnections
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => refuse(socket, explain(error.code)))
  // An expectation we do not know is ignored rather than refused with a bare 417.
  server.on('checkExpectation', app)
  server.on('connect', (_request, socket: Socket) => refuse(socket, invalidRequest('method', 'CONNECT is for proxies')))
  return server
}

function explain(code: string | undefined): ApiError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return invalidRequest('header', `and request line must be at most ${maxHeaderBytes} bytes together`)
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return invalidRequest('request', `must arrive whole within ${requestTimeoutMs / 1_000} seconds`)
  }
  return invalidRequest('request', 'must be well-formed HTTP/1.1')
}

/** Writes an answer by hand: Node has no response object for what is not a request. */
function refuse(socket: Socket, error: ApiError): void {
  const answering = (socket as Socket & { _httpMessage?: { headersSent: boolean } })._httpMessage
  if (!socket.writable || answering?.headersSent) return void socket.destroy()
  const body = JSON.stringify(error.body)
  socket.end(
    [
      `HTTP/1.1 ${errorStatus[error.code]} Bad Request`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Cache-Control: no-store',
      'Access-Control-Allow-Origin: *',
      `${requestIdHeader}: ${randomUUID()}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}

export interface Serving {
  readonly host: string
  readonly port: number
  readonly log: Logger
  /** What data is served from, for the line at the start. */
  readonly database: string
  /** Called when a stop is asked for: from then on the process is not ready. */
  readonly onStop: () => void
}

/** Serves the app until SIGTERM or SIGINT, and lets the requests in flight end. */
export async function serve(app: Express, { host, port, log, database, onStop }: Serving): Promise<void> {
  const server = createHttpServer(app)
  await listen(server, host, port)
  log.info({ host, port: portOf(server), database }, 'listening')
  await new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
  onStop()
  log.info('stopping')
  await drain(server)
}

/** Requests in flight may take this long after a stop was asked for, in milliseconds. */
const drainTimeoutMs = 12_000

/** No new connections; those in flight end, the others close at once. */
async function drain(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const deadline = setTimeout(() => server.closeAllConnections(), drainTimeoutMs)
  await closed
  clearTimeout(deadline)
}
