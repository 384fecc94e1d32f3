import { randomUUID } from 'node:crypto'
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Express } from 'express'
import type { Logger } from 'pino'
import { requestLimits } from '../../config/limits.ts'
import { portOf } from '../../ops/health.ts'
import { listen } from '../../ops/ports.ts'
import { untilStopSignal } from '../../ops/stop.ts'
import { minute } from '../../ops/time.ts'
import { jsonText } from './content.ts'
import { drainOf } from './drain.ts'
import { type ApiError, invalidRequest } from './errors.ts'
import { requestIdHeader } from './headers.ts'

const { headerBytes, arrivalSeconds } = requestLimits
/** Time for the headers, in milliseconds: slow senders are cut, as they are after `arrivalSeconds`. */
const headersTimeoutMs = 5_000
/** How often Node checks these two timeouts, in milliseconds. */
const checkEveryMs = 1_000
/** Connections silent for so many milliseconds are closed. Above the idle timeout of common load balancers, 60 s. */
const idleTimeoutMs = 65_000
const maxConnections = 10_000

/** Told of each request that Node itself refuses, which no middleware of the app sees. */
type HearBadHttp = (requestId: string, error: ApiError) => void

interface BadHttpNotes {
  readonly log: Logger
  readonly countError: (code: string) => void
  /** Current time, in milliseconds since the epoch. */
  readonly now: () => number
}

/**
 * Counts each of these requests, and logs one a minute at most, with the number of those since the line before: no limiter
 * has seen their senders, who would fill the log.
 */
export function noteBadHttp({ log, countError, now }: BadHttpNotes): HearBadHttp {
  let loggedAt = Number.NEGATIVE_INFINITY
  let count = 0
  return (requestId, { code, detail }) => {
    countError(code)
    count++
    if (now() < loggedAt + minute) return
    log.info({ requestId, code, detail, count }, 'refused')
    loggedAt = now()
    count = 0
  }
}

/**
 * The HTTP server of an app, not listening yet. What Node itself refuses is answered with the service's error body, and the
 * app hears of it, if it has `hearBadHttp` among its locals.
 */
export function createHttpServer(app: Express): Server {
  const hear: HearBadHttp | undefined = app.locals.hearBadHttp
  const server = createServer(
    {
      maxHeaderSize: headerBytes,
      connectionsCheckingInterval: checkEveryMs,
      requireHostHeader: false,
      IncomingMessage: classOf(app.request, IncomingMessage),
      ServerResponse: classOf(app.response, ServerResponse),
    },
    app,
  )
  server.headersTimeout = headersTimeoutMs
  server.requestTimeout = arrivalSeconds * 1_000
  server.keepAliveTimeout = idleTimeoutMs
  server.setTimeout(idleTimeoutMs)
  server.maxConnections = maxConnections
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // Nothing was asked: a browser that opened the connection in advance would take this for the answer to its next request.
    if (socket.bytesRead === 0) return void socket.destroy()
    refuse(socket, explain(error.code), hear)
  })
  // An expectation we do not know is ignored rather than refused with a bare 417.
  server.on('checkExpectation', app)
  server.on('connect', (_request, socket: Socket) => {
    socket.on('error', () => {}) // Node has let go of it: a reset would be an error nobody hears, which ends the process
    refuse(socket, invalidRequest('method', 'CONNECT is for proxies'), hear)
  })
  return server
}

/**
 * A class like `base` whose objects have the app's prototype from the start. Express gives it to every request and
 * response, and changing the prototype of an object is slow.
 */
function classOf<C>(prototype: object, base: C): C {
  function Made(...args: unknown[]) {
    return Reflect.construct(base as never, args, Made)
  }
  Made.prototype = prototype
  return Made as C
}

function explain(code: string | undefined): ApiError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return invalidRequest('header', `and request line must be at most ${headerBytes} bytes together`)
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return invalidRequest('request', `must arrive whole within ${arrivalSeconds} seconds`)
  }
  return invalidRequest('request', 'must be well-formed HTTP/1.1')
}

/** Writes an error to the socket by hand: Node has no response object for what is not a valid request. */
function refuse(socket: Socket, error: ApiError, hear: HearBadHttp | undefined): void {
  const answering = (socket as Socket & { _httpMessage?: { headersSent: boolean } })._httpMessage
  if (!socket.writable || answering?.headersSent) return void socket.destroy()
  const body = jsonText(error.body)
  const requestId = randomUUID()
  hear?.(requestId, error)
  socket.end(
    [
      `HTTP/1.1 ${error.status} Bad Request`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Cache-Control: no-store',
      'Access-Control-Allow-Origin: *',
      `${requestIdHeader}: ${requestId}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}

interface Serving {
  readonly host: string
  readonly port: number
  readonly log: Logger
  /** Description of the database, for the log line at the start. */
  readonly database: string
  /** Called at the stop signal: from then on /readyz has to fail. */
  readonly onStop: () => void
  /** Milliseconds for which it serves as before after the stop signal, until load balancers have noticed /readyz. */
  readonly stopPauseMs: number
}

/** Serves the app until SIGTERM or SIGINT, then for the pause, while it is not ready; then drains and resolves. */
export async function serve(app: Express, { host, port, log, database, onStop, stopPauseMs }: Serving): Promise<void> {
  const stopSignal = untilStopSignal()
  const server = createHttpServer(app)
  const drain = drainOf(server)
  await listen(server, host, port)
  log.info({ host, port: portOf(server), database }, 'listening')
  const signal = await stopSignal
  onStop()
  log.info(`${signal}: stopping`)
  await delay(stopPauseMs)
  await drain()
}
