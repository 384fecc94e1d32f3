import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { WatchedLog } from './watched-log.ts'

/** Most bytes of a request: 63 hashes and a checkpoint with 64 signatures, some of them of 2,420 bytes. */
const mostBodyBytes = 256 * 1024
/** Most bytes that are read of a request which is too long. */
const mostUnreadBytes = 16 * 1024 * 1024
/** Milliseconds for a request to arrive. */
const requestMs = 10_000
/** Connections at a time: each may hold a whole request. */
const mostConnections = 64
const plain = 'text/plain; charset=utf-8'
/** Type of an answer that has the size of the last tree. */
const sizeType = 'text/x.tlog.size'

/**
 * Serves a witness by C2SP tlog-witness: POST /add-checkpoint takes a checkpoint and answers with its cosignature, GET
 * /<SHA-256 of the origin>/checkpoint has the last one that was cosigned. GET /key has the witness's key.
 */
export function witnessServer(log: WatchedLog, key: string): Server {
  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    if (req.method === 'POST' && req.url === '/add-checkpoint') {
      const body = await bodyOf(req)
      if (body === undefined) return void send(res, 413, `at most ${mostBodyBytes} bytes are read\n`)
      const { status, text } = log.judge(body)
      return send(res, status, text.endsWith('\n') ? text : `${text}\n`, status === 409 ? sizeType : plain)
    }
    if (req.method !== 'GET') return send(res, 405, 'GET, or POST to /add-checkpoint\n')
    if (req.url === '/key') return send(res, 200, `${key}\n`)
    const cosigned = log.cosigned()
    if (cosigned && req.url === `/${sha256(cosigned.origin)}/checkpoint`) {
      return send(res, 200, cosigned.note + cosigned.line)
    }
    return send(res, 404, 'there is nothing at this path\n')
  }
  const server = createServer((req, res) => {
    answer(req, res).catch((error: Error) => {
      process.emitWarning(error) // it has paths of this machine in it, which are for its operator
      send(res, 500, 'the witness cannot answer now\n')
    })
  })
  server.maxConnections = mostConnections
  server.requestTimeout = requestMs
  server.headersTimeout = requestMs
  return server
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

function send(res: ServerResponse, status: number, text: string, type = plain): void {
  if (res.headersSent) return void res.destroy()
  res.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store', Connection: 'close' }).end(text)
}

/**
 * Text of a request. Undefined: it is too long. Such a one is read on, and not kept, up to `mostUnreadBytes`: whoever is
 * still sending when the connection ends never sees the answer.
 */
async function bodyOf(req: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of req as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > mostUnreadBytes) return undefined
    if (bytes <= mostBodyBytes) parts.push(part)
  }
  return bytes > mostBodyBytes ? undefined : Buffer.concat(parts).toString()
}
