import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { BlockReference } from './blocks.ts'
import { chunksOfAnswer, type Dataset, type DatasetRequest, sendJson, sendStatus } from './dataset.ts'
import { linesOfChunk } from './lines.ts'
import { parsePortalQuery, type Query, QueryError } from './query.ts'
import { type StreamPart, sendLines } from './stream.ts'

/** Blocks a 409 names below the one asked for. */
const maxPreviousBlocks = 50
const frontierPollMs = 10

/** Answers POST `/finalized-stream` or `/stream`; `frontier` returns the newest block of the route. */
export async function answerStream(
  dataset: Dataset,
  request: DatasetRequest,
  res: ServerResponse,
  frontier: () => BlockReference | null,
): Promise<void> {
  const { source } = dataset
  const query = parsePortalQuery(request.body)
  if (query.fromBlock < source.startBlock) {
    throw new QueryError(`fromBlock ${query.fromBlock} is below the dataset's first block ${source.startBlock}`)
  }
  const fault = dataset.faults.take('stream')
  if (fault?.kind === 'status') return sendStatus(res, fault)
  if (fault?.kind === 'fork') return sendFork(res, fault.previousBlocks ?? previousBlocks(dataset, query.fromBlock))

  if (fault?.kind === 'noContent' || !(await isReached(frontier, query.fromBlock, dataset.noContentAfterMs))) {
    res.writeHead(204, headHeaders(dataset)).end()
    return
  }
  const { parentBlockHash, fromBlock } = query
  if (
    parentBlockHash !== undefined &&
    fromBlock > source.startBlock &&
    source.header(fromBlock).parentHash !== parentBlockHash
  ) {
    return sendFork(res, previousBlocks(dataset, fromBlock))
  }
  const to = Math.min(query.toBlock ?? Number.MAX_SAFE_INTEGER, frontier()?.number ?? 0)
  const compress = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
  res.writeHead(200, {
    'content-type': 'application/jsonl',
    ...(compress ? { 'content-encoding': 'gzip' } : {}),
    ...headHeaders(dataset),
  })
  await sendLines(res, partsOf(dataset, query, to), { compress, fault })
}

async function* partsOf(dataset: Dataset, query: Query, to: number): AsyncGenerator<StreamPart> {
  const { source } = dataset
  for (const { first, last } of chunksOfAnswer(dataset, query.fromBlock, to)) {
    const prepared = await source.prepared?.(query, first, last)
    if (prepared) yield prepared
    else yield* linesOfChunk(source, query, first, last)
  }
}

function headHeaders({ source }: Dataset): Record<string, string> {
  const finalized = source.finalizedHead()
  const head = source.head()
  return {
    'x-sqd-data-source': 'network',
    ...(head ? { 'x-sqd-head-number': String(head.number) } : {}),
    ...(finalized
      ? { 'x-sqd-finalized-head-number': String(finalized.number), 'x-sqd-finalized-head-hash': finalized.hash }
      : {}),
  }
}

function sendFork(res: ServerResponse, previousBlocks: readonly BlockReference[]): void {
  sendJson(res, 409, {
    error: { type: 'conflict', code: 'base_block_mismatch', message: 'parentBlockHash is not the parent of fromBlock' },
    previousBlocks,
  })
}

function previousBlocks({ source }: Dataset, from: number): BlockReference[] {
  const first = Math.max(source.startBlock, from - maxPreviousBlocks)
  return Array.from({ length: Math.max(0, from - first) }, (_, step) => {
    const { number, hash } = source.header(first + step)
    return { number, hash }
  })
}

/** Whether the frontier gets to a block within the time a question above it may wait. */
async function isReached(frontier: () => BlockReference | null, number: number, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs
  while ((frontier()?.number ?? -1) < number) {
    if (Date.now() >= deadline) return false
    await wait(frontierPollMs)
  }
  return true
}
