import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { portOf } from '../../../ops/health.ts'
import { answerArchive } from './archive.ts'
import type { BlockSource } from './blocks.ts'
import { type Dataset, type DatasetRequest, sendJson, sendStatus } from './dataset.ts'
import { Faults } from './faults.ts'
import { answerStream } from './portal-stream.ts'
import { QueryError } from './query.ts'

interface PortalOptions {
  /** Sources by dataset name, as in `dataset` of the chain table. */
  readonly datasets: Readonly<Record<string, BlockSource>>
  /** Default: a free one. */
  readonly port?: number
  /** Chunks one answer covers at most; the client asks again for the rest. */
  readonly chunksPerAnswer?: number
  /** How long a question above the frontier waits for its block before it is answered 204, in milliseconds. */
  readonly noContentAfterMs?: number
}

export interface Portal {
  /** Value for PORTAL_URL. */
  readonly url: string
  /** Address of one dataset as a v2 archive: value for GATEWAY_<CHAIN>. */
  gatewayUrl(dataset: string): string
  readonly faults: Faults
  /** Requests in the order they came; the newest ones, when there were more than are kept. */
  readonly requests: readonly PortalRequest[]
  stop(): Promise<void>
}

export interface PortalRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** When it came, in milliseconds since 1970. */
  readonly at: number
  /** Status of the answer; undefined until it has one. */
  readonly status: number | undefined
}

const maxBodyBytes = 256 * 1024
const maxRequestsKept = 10_000
const defaultChunksPerAnswer = 16
const defaultNoContentAfterMs = 200

/**
 * A local server of the SQD Portal protocol and of the older v2 archive, over any source of blocks. It answers as
 * the public services do, as far as a client can tell, and misbehaves on command (`faults`).
 */
export async function startPortal(options: PortalOptions): Promise<Portal> {
  const faults = new Faults()
  const requests: PortalRequest[] = []
  let url = ''

  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    const body = await readBody(req)
    const { method = '', headers } = req
    const { pathname } = new URL(req.url ?? '/', url)
    requests.push({
      method,
      path: pathname,
      headers,
      body: body ?? '',
      at: Date.now(),
      get status() {
        return res.headersSent ? res.statusCode : undefined
      },
    })
    if (requests.length > maxRequestsKept) requests.shift()
    if (body === undefined) return sendJson(res, 413, { error: `the body is longer than ${maxBodyBytes} bytes` })

    const [, room, name = '', ...rest] = pathname.split('/')
    if (room === 'datasets' && name === '') {
      return sendJson(res, 200, Object.entries(options.datasets).map(describe))
    }
    const source = options.datasets[name]
    if ((room !== 'datasets' && room !== 'network') || !source) {
      return sendJson(res, 404, { error: `no dataset at ${pathname}` })
    }
    const dataset: Dataset = {
      name,
      source,
      faults,
      chunksPerAnswer: options.chunksPerAnswer ?? defaultChunksPerAnswer,
      noContentAfterMs: options.noContentAfterMs ?? defaultNoContentAfterMs,
    }
    const request: DatasetRequest = { headers, body, route: `${method} ${rest.join('/')}` }
    if (room === 'network') return answerArchive(dataset, request, res, `${url}/network/${name}`)
    return answerPortal(dataset, request, res)
  }

  const server = createServer((req, res) => {
    res.on('error', () => {}) // the client is gone
    answer(req, res).catch((error: Error) => {
      if (res.headersSent) return res.destroy()
      const status = error instanceof QueryError ? 400 : 500
      sendJson(res, status, { error: { type: 'invalid_request', message: error.message } })
    })
  })
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${portOf(server)}`
  return {
    url,
    gatewayUrl: (dataset) => `${url}/network/${dataset}`,
    faults,
    requests,
    async stop() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function answerPortal(dataset: Dataset, request: DatasetRequest, res: ServerResponse) {
  const { source, name, faults } = dataset
  switch (request.route) {
    case 'POST finalized-stream':
      return answerStream(dataset, request, res, () => source.finalizedHead())
    case 'POST stream':
      return answerStream(dataset, request, res, () => source.head())
    case 'GET head':
    case 'GET finalized-head': {
      const fault = faults.take('head')
      if (fault?.kind === 'status') return sendStatus(res, fault)
      return sendJson(res, 200, request.route === 'GET head' ? source.head() : source.finalizedHead())
    }
    case 'GET metadata':
      return sendJson(res, 200, describe([name, source]))
    default:
      return sendJson(res, 404, { error: `no route ${request.route} in a dataset` })
  }
}

function describe([dataset, source]: [string, BlockSource]) {
  const realTime = source.head()?.number !== source.finalizedHead()?.number
  return { dataset, aliases: [], real_time: realTime, start_block: source.startBlock }
}

/** Body of a request; undefined: too long. It is read to its end even so, so that the client can read the answer. */
async function readBody(req: IncomingMessage): Promise<string | undefined> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of req as AsyncIterable<Buffer>) {
    size += piece.length
    if (size <= maxBodyBytes) pieces.push(piece)
  }
  return size > maxBodyBytes ? undefined : Buffer.concat(pieces).toString()
}
