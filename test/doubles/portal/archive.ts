import type { ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip as gzipWithCallback } from 'node:zlib'
import { chunksOfAnswer, type Dataset, type DatasetRequest, sendJson, sendStatus } from './dataset.ts'
import { linesOfChunk } from './lines.ts'
import { parseArchiveQuery, QueryError } from './query.ts'

const gzip = promisify(gzipWithCallback)

/** Answers the router and the worker of a v2 archive; `base` is the dataset's address. */
export async function answerArchive(
  dataset: Dataset,
  request: DatasetRequest,
  res: ServerResponse,
  base: string,
): Promise<void> {
  const { source, faults } = dataset
  const height = source.finalizedHead()?.number
  if (request.route === 'GET height') {
    const fault = faults.take('height')
    if (fault?.kind === 'status') return sendStatus(res, fault)
    if (height === undefined) return sendStatus(res, { status: 503 })
    return sendText(res, String(height))
  }
  const worker = /^GET (\d+)\/worker$/.exec(request.route)
  if (worker) {
    const fault = faults.take('worker')
    if (fault?.kind === 'status') return sendStatus(res, fault)
    // The client asks again later for a block that no worker holds yet.
    if (height === undefined || Number(worker[1]) > height) return sendStatus(res, { status: 503 })
    return sendText(res, `${base}/worker`)
  }
  if (request.route !== 'POST worker') return sendJson(res, 404, { error: `no route ${request.route} in an archive` })

  const fault = faults.take('query')
  if (fault?.kind === 'status') return sendStatus(res, fault)
  const query = parseArchiveQuery(request.body)
  if (height === undefined || query.fromBlock > height || query.fromBlock < source.startBlock) {
    throw new QueryError(`block ${query.fromBlock} is not in this worker`)
  }
  const lines: string[] = []
  for (const { first, last } of chunksOfAnswer(dataset, query.fromBlock, Math.min(query.toBlock ?? height, height))) {
    for await (const line of linesOfChunk(source, query, first, last)) lines.push(line)
  }
  const body = Buffer.from(`[${lines.join(',')}]`)
  const compress = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
  res
    .writeHead(200, { 'content-type': 'application/json', ...(compress ? { 'content-encoding': 'gzip' } : {}) })
    .end(compress ? await gzip(body, { level: 1 }) : body)
}

function sendText(res: ServerResponse, body: string): void {
  res.writeHead(200, { 'content-type': 'text/plain' }).end(body)
}
