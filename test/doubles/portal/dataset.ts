import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { BlockSource } from './blocks.ts'
import type { Faults } from './faults.ts'

/** One dataset with what answering a request for it needs. */
export interface Dataset {
  readonly name: string
  readonly source: BlockSource
  readonly faults: Faults
  /** Chunks one answer covers at most. */
  readonly chunksPerAnswer: number
  /** Milliseconds that a request above the frontier waits for its block. */
  readonly noContentAfterMs: number
}

/** A request whose body has been read. */
export interface DatasetRequest {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Method and what follows the dataset's name: `GET head`. */
  readonly route: string
}

export function sendJson(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** An error status on command. */
export function sendStatus(
  res: ServerResponse,
  fault: { status: number; retryAfterSeconds?: number; stalls?: boolean },
): void {
  const { status, retryAfterSeconds, stalls } = fault
  const headers = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
  if (stalls) {
    res.writeHead(status, { 'content-type': 'text/plain', 'content-length': 100, ...headers }).flushHeaders()
    return
  }
  res.writeHead(status, { 'content-type': 'text/plain', ...headers }).end(`status ${status}, on command`)
}

/** Ranges of whole chunks from `from` on, at most `to` and at most as many as one answer covers. */
export function* chunksOfAnswer({ source, chunksPerAnswer }: Dataset, from: number, to: number) {
  let first = from
  for (let count = 0; count < chunksPerAnswer && first <= to; count++) {
    const last = Math.min(source.chunkEnd(first), to)
    yield { first, last }
    first = last + 1
  }
}
