import { createHash } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { freePort } from '../../ops/ports.ts'
import { answerControl } from '../hosts/host-control.ts'
import { type HostFault, sendFaulty } from '../hosts/host-faults.ts'
import { Faults } from '../hub/faults.ts'

export interface UpstreamRequest {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  /** Body of the request, parsed as JSON; undefined: none. */
  readonly body: unknown
}

export interface UpstreamAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body: unknown
}

/** A service that the directory asks, in the shapes that the real one answers in. */
export interface UpstreamServer {
  /** Base address, without a slash at the end. */
  readonly url: string
  readonly faults: Faults<HostFault>
  /** Requests received, newest last, the last thousand at most. */
  readonly requests: readonly UpstreamRequest[]
  stop(): Promise<void>
}

export interface UpstreamOptions {
  /** Default: a free one. */
  readonly port?: number
}

const address = '127.0.0.1'
const keptRequests = 1_000
const mostBodyBytes = 256 * 1024

/** Serves `answer` with entity tags; undefined is a 404. /control is for a person who wants it to fail. */
export async function startUpstream(
  answer: (request: UpstreamRequest) => UpstreamAnswer | undefined,
  { port }: UpstreamOptions = {},
): Promise<UpstreamServer> {
  const chosen = port ?? (await freePort(address))
  const faults = new Faults<HostFault>()
  const requests: UpstreamRequest[] = []
  const server = createServer(async (incoming, response) => {
    const { method = 'GET', url: path = '/', headers } = incoming
    const text = await readText(incoming)
    const url = new URL(path, `http://${address}`)
    if (url.pathname === '/control') return answerControl(method, text, response, faults)
    const request = { method, url, headers, body: parse(text) }
    requests.push(request)
    if (requests.length > keptRequests) requests.shift()
    const found = answer(request) ?? { status: 404, body: { message: 'Not Found' } }
    const fault = faults.take(path)
    if (!fault) return send(incoming, response, found)
    await sendFaulty(incoming, response, { status: found.status ?? 200, body: found.body }, fault)
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(chosen, address, resolve))
  return {
    url: `http://${address}:${chosen}`,
    faults,
    requests,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function send(request: IncomingMessage, response: ServerResponse, { status = 200, headers, body }: UpstreamAnswer) {
  const text = JSON.stringify(body)
  const etag = `"${createHash('sha256').update(text).digest('hex').slice(0, 32)}"`
  if (status === 200 && request.headers['if-none-match'] === etag) {
    response.writeHead(304, { etag, ...headers }).end()
    return
  }
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', etag, ...headers }).end(text)
}

async function readText(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of request) {
    size += piece.length
    if (size <= mostBodyBytes) pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
