import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Answer to a path; a string body is sent unchanged, anything else as JSON. */
export interface Canned {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body: unknown
}

export interface CannedServer {
  readonly url: string
  /** Requests received: paths with queries, and headers. */
  readonly requests: { path: string; headers: Record<string, string | string[] | undefined> }[]
  stop(): Promise<void>
}

/** Starts a server with fixed answers by path; where `answer` returns undefined, the request hangs. */
export async function serveCanned(
  answer: (path: string, query: URLSearchParams) => Canned | undefined,
): Promise<CannedServer> {
  const requests: CannedServer['requests'] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://canned')
    requests.push({ path: url.pathname + url.search, headers: request.headers })
    const canned = answer(url.pathname, url.searchParams)
    if (!canned) return
    const { status = 200, headers = {}, body } = canned
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
