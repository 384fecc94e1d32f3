import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { freePort } from '../../ops/ports.ts'
import { control } from './control.ts'
import { type Answer, Faults, send } from './faults.ts'
import { HubError } from './query.ts'
import { routes } from './routes.ts'
import type { HubState } from './state.ts'
import { neynarError, usersByAddress, usersByFid } from './users.ts'

interface HubOptions {
  /** Preferred port; another one when it is taken or absent. */
  readonly port?: number
  readonly host?: string
  /** Value of `x-api-key` that Neynar's routes require. */
  readonly apiKey?: string
}

export interface Hub {
  /** Base address for HUB_URL and NEYNAR_URL. */
  readonly url: string
  readonly state: HubState
  readonly faults: Faults
  /** Paths with queries of the requests received, newest last, the last thousand at most. */
  readonly requests: readonly string[]
  stop(): Promise<void>
}

const keptRequests = 1_000

/**
 * A Farcaster hub's HTTP API over a state in memory: the v1 routes of a Snapchain node, the v2 routes of hypersnap and
 * Neynar, and /control, where a person changes the state by hand (GET /control lists the orders).
 */
export async function startHub(state: HubState, options: HubOptions = {}): Promise<Hub> {
  const { host = '127.0.0.1', apiKey = 'devnet' } = options
  const port = await freePort(host, options.port)
  const faults = new Faults()
  const requests: string[] = []
  const server = createServer(async (request, response) => {
    const target = request.url ?? '/'
    if (target.startsWith('/control')) return answerControl(request, response, { state, faults })
    requests.push(target)
    if (requests.length > keptRequests) requests.shift()
    const answer = answerTo(state, new URL(target, 'http://hub'), request.headers['x-api-key'], apiKey)
    await send(response, answer, faults.take(target))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return {
    url: `http://${host}:${port}`,
    state,
    faults,
    requests,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function answerTo(state: HubState, url: URL, key: string | string[] | undefined, apiKey: string): Answer {
  const query = url.searchParams
  if (url.pathname.startsWith('/v2/farcaster/user/')) {
    if (key !== undefined && key !== apiKey) return neynarError(401, 'Unauthorized', 'Incorrect API key', 'x-api-key')
    if (url.pathname.endsWith('/bulk')) return usersByFid(state, query, key !== undefined)
    if (url.pathname.endsWith('/bulk-by-address')) {
      return key === undefined
        ? neynarError(401, 'Unauthorized', 'API key required', 'x-api-key')
        : usersByAddress(state, query)
    }
  }
  const route = routes[url.pathname]
  if (!route) return { status: 404, body: 'Not Found' }
  try {
    return route(state, query)
  } catch (error) {
    if (!(error instanceof HubError)) throw error
    return { status: 400, body: { error: error.message, error_detail: error.detail } }
  }
}

async function answerControl(
  request: IncomingMessage,
  response: ServerResponse,
  hub: { state: HubState; faults: Faults },
) {
  const { status, body } = await control(request, hub)
  response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body, null, 2)}\n`)
}
