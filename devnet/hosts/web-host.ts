import { createHash } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { freePort } from '../../ops/ports.ts'
import { Faults } from '../hub/faults.ts'
import { answerControl } from './host-control.ts'
import { type HostFault, sendFaulty } from './host-faults.ts'

/** An answer; a body that is neither text nor bytes is sent as JSON. */
export interface Page {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

/** Pages by path, without the query; a function makes its page from the request's method, body and query. */
export type Pages = Map<string, Page | ((method: string, body: string, query: URLSearchParams) => Page | Promise<Page>)>

interface HostRequest {
  readonly method: string
  /** Path and query string. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
}

/** A web host of somebody whom this project does not know. */
export interface WebHost {
  /** Base address, without a slash at the end. */
  readonly url: string
  /** `host:port`, as EGRESS_ALLOW takes it. */
  readonly name: string
  readonly pages: Pages
  readonly faults: Faults<HostFault>
  /** Requests received, newest last, the last thousand at most. */
  readonly requests: readonly HostRequest[]
  stop(): Promise<void>
}

const address = '127.0.0.1'
const keptRequests = 1_000
const mostBodyBytes = 64 * 1024

/** Serves `pages` with entity tags; what they do not have is a 404. /control is for a person who wants it to fail. */
export async function startWebHost({ port }: { port?: number } = {}): Promise<WebHost> {
  const chosen = port ?? (await freePort(address))
  const pages: Pages = new Map()
  const faults = new Faults<HostFault>()
  const requests: HostRequest[] = []

  const server = createServer(async (request, response) => {
    const { method = 'GET', url: path = '/', headers } = request
    const { pathname, searchParams } = new URL(path, 'http://host')
    const body = await readBody(request)
    if (pathname === '/control') return answerControl(method, body, response, faults)
    requests.push({ method, path, headers })
    if (requests.length > keptRequests) requests.shift()
    const page = pages.get(pathname)
    const found = typeof page === 'function' ? await page(method, body, searchParams) : page
    const fault = faults.take(path)
    if (!fault) return sendPage(request, response, found ?? notFound)
    await sendFaulty(request, response, { status: found?.status ?? 200, body: found?.body ?? {} }, fault)
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(chosen, address, resolve))
  return {
    url: `http://${address}:${chosen}`,
    name: `${address}:${chosen}`,
    pages,
    faults,
    requests,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const notFound: Page = { status: 404, headers: { 'content-type': 'text/plain' }, body: 'Not Found\n' }

function sendPage(request: IncomingMessage, response: ServerResponse, { status = 200, headers, body }: Page) {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array
  const bytes = isRaw ? Buffer.from(body) : Buffer.from(JSON.stringify(body))
  const etag = `"${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}"`
  if (status === 200 && request.headers['if-none-match'] === etag) {
    response.writeHead(304, { etag }).end()
    return
  }
  const type = isRaw ? 'text/html; charset=utf-8' : 'application/json'
  response.writeHead(status, { 'content-type': type, etag, ...headers }).end(bytes)
}

async function readBody(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of request) {
    size += piece.length
    if (size <= mostBodyBytes) pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}
