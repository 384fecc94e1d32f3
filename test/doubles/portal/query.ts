import { z } from 'zod'

/** What a client may ask for; anything else in a query is refused, as the SQD Network's own query parser does. */
export type Query = z.infer<typeof portalQuery>
type Fields = Query['fields']
export type LogRequest = Query['logs'][number]
export type TransactionRequest = Query['transactions'][number]
export type TraceRequest = Query['traces'][number]

/** A query that the server does not accept; `message` says why. */
export class QueryError extends Error {
  override readonly name = 'QueryError'
}

/** Item requests that one query may have, all kinds together. */
const maxItemRequests = 100

const flags = <const T extends readonly string[]>(names: T) =>
  z
    .strictObject(Object.fromEntries(names.map((name) => [name, z.boolean().default(false)])) as Flags<T[number]>)
    .prefault({} as never)
type Flags<N extends string> = Record<N, z.ZodDefault<z.ZodBoolean>>

const list = z.array(z.string()).optional()
const flag = z.boolean().default(false)
const blockNumber = z.int().nonnegative()

// Names as in the network's query language (subsquid/data, crates/query).
const fields = z
  .strictObject({
    block: flags([
      'number',
      'hash',
      'parentHash',
      'timestamp',
      'transactionsRoot',
      'receiptsRoot',
      'stateRoot',
      'logsBloom',
      'sha3Uncles',
      'extraData',
      'miner',
      'nonce',
      'mixHash',
      'size',
      'gasLimit',
      'gasUsed',
      'difficulty',
      'totalDifficulty',
      'baseFeePerGas',
      'blobGasUsed',
      'excessBlobGas',
      'l1BlockNumber',
    ]),
    transaction: flags([
      'transactionIndex',
      'hash',
      'nonce',
      'from',
      'to',
      'input',
      'value',
      'gas',
      'gasPrice',
      'maxFeePerGas',
      'maxPriorityFeePerGas',
      'v',
      'r',
      's',
      'yParity',
      'chainId',
      'sighash',
      'contractAddress',
      'gasUsed',
      'cumulativeGasUsed',
      'effectiveGasPrice',
      'type',
      'status',
      'maxFeePerBlobGas',
      'blobVersionedHashes',
      'l1Fee',
      'l1FeeScalar',
      'l1GasPrice',
      'l1GasUsed',
      'l1BlobBaseFee',
      'l1BlobBaseFeeScalar',
      'l1BaseFeeScalar',
    ]),
    log: flags(['logIndex', 'transactionIndex', 'transactionHash', 'address', 'data', 'topics']),
    trace: flags([
      'transactionIndex',
      'traceAddress',
      'subtraces',
      'type',
      'error',
      'revertReason',
      'createFrom',
      'createValue',
      'createGas',
      'createInit',
      'createResultGasUsed',
      'createResultCode',
      'createResultAddress',
      'callFrom',
      'callTo',
      'callValue',
      'callGas',
      'callInput',
      'callSighash',
      'callType',
      'callCallType',
      'callResultGasUsed',
      'callResultOutput',
      'suicideAddress',
      'suicideRefundAddress',
      'suicideBalance',
      'rewardAuthor',
      'rewardValue',
      'rewardType',
    ]),
    stateDiff: flags(['transactionIndex', 'address', 'key', 'kind', 'prev', 'next']),
  })
  .prefault({})

const archiveQuery = z.strictObject({
  fromBlock: blockNumber,
  toBlock: blockNumber.optional(),
  includeAllBlocks: flag,
  fields,
  logs: z
    .array(
      z.strictObject({
        address: list,
        topic0: list,
        topic1: list,
        topic2: list,
        topic3: list,
        transaction: flag,
        transactionLogs: flag,
        transactionTraces: flag,
        transactionStateDiffs: flag,
      }),
    )
    .default([]),
  transactions: z
    .array(
      z.strictObject({
        from: list,
        to: list,
        sighash: list,
        firstNonce: blockNumber.optional(),
        lastNonce: blockNumber.optional(),
        logs: flag,
        traces: flag,
        stateDiffs: flag,
      }),
    )
    .default([]),
  traces: z
    .array(
      z.strictObject({
        type: list,
        createFrom: list,
        createResultAddress: list,
        callFrom: list,
        callTo: list,
        callSighash: list,
        suicideRefundAddress: list,
        rewardAuthor: list,
        transaction: flag,
        transactionLogs: flag,
        subtraces: flag,
        parents: flag,
      }),
    )
    .default([]),
  stateDiffs: z.tuple([], { error: 'state diffs are not served here' }).default([]),
})

const portalQuery = archiveQuery.extend({
  type: z.literal('evm'),
  parentBlockHash: z.string().optional(),
})

/** The query of a Portal stream, where nothing is implied. Throws QueryError. */
export function parsePortalQuery(body: string): Query {
  return parse(portalQuery, body)
}

// Fields that the older archive adds to every answer, even when not requested.
const impliedByArchive = {
  block: ['number', 'hash', 'parentHash'],
  transaction: ['transactionIndex'],
  log: ['logIndex', 'transactionIndex'],
  trace: ['transactionIndex', 'traceAddress', 'type'],
} as const

/** The query of a v2 archive worker, with the fields it implies switched on. Throws QueryError. */
export function parseArchiveQuery(body: string): Query {
  const query: Query = { ...parse(archiveQuery, body), type: 'evm' }
  for (const [item, names] of Object.entries(impliedByArchive)) {
    for (const name of names) (query.fields[item as keyof Fields] as Record<string, boolean>)[name] = true
  }
  return query
}

function parse<T extends Omit<Query, 'type' | 'parentBlockHash'>>(schema: z.ZodType<T>, body: string): T {
  let json: unknown
  try {
    json = JSON.parse(body)
  } catch (error) {
    throw new QueryError(`the query is not JSON: ${(error as Error).message}`)
  }
  const parsed = schema.safeParse(json)
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!
    throw new QueryError(`${path.join('.') || 'query'}: ${message}`)
  }
  const query = parsed.data
  if (query.toBlock !== undefined && query.toBlock < query.fromBlock) throw new QueryError('toBlock is below fromBlock')
  const requests = query.logs.length + query.transactions.length + query.traces.length
  if (requests > maxItemRequests) {
    throw new QueryError(`${requests} item requests, at most ${maxItemRequests} are accepted`)
  }
  return query
}
