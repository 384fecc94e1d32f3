import type { Block, Log, Trace, Transaction } from './blocks.ts'
import type { LogRequest, Query, TraceRequest, TransactionRequest } from './query.ts'

/** The items of one block that a query asks for, each once, in the block's order. */
export interface Selection {
  readonly transactions: readonly Transaction[]
  readonly logs: readonly Log[]
  readonly traces: readonly Trace[]
}

/**
 * Compiles a query into a function that picks its items from a block. Within a list any value fits, the lists of one
 * request must all fit, an empty list fits nothing, and requests add up. Relations pull in the rest of a match's
 * transaction. Values are compared as they are written: the data is lowercase.
 */
export function compileSelection(query: Query): (block: Block) => Selection {
  const logs = query.logs.map((request) => ({ request, fits: logFilter(request) }))
  const transactions = query.transactions.map((request) => ({ request, fits: transactionFilter(request) }))
  const traces = query.traces.map((request) => ({ request, fits: traceFilter(request) }))

  return (block) => {
    const picked = { transactions: new Set<Transaction>(), logs: new Set<Log>(), traces: new Set<Trace>() }
    const pick = <K extends keyof typeof picked>(kind: K, fits: (item: Block[K][number]) => boolean) => {
      for (const item of block[kind]) if (fits(item)) (picked[kind] as Set<unknown>).add(item)
    }
    const pickOfTransaction = (kind: keyof typeof picked, index: number) =>
      pick(kind, (item) => item.transactionIndex === index)

    for (const { request, fits } of logs) {
      for (const log of block.logs) {
        if (!fits(log)) continue
        picked.logs.add(log)
        if (request.transaction) pickOfTransaction('transactions', log.transactionIndex)
        if (request.transactionLogs) pickOfTransaction('logs', log.transactionIndex)
        if (request.transactionTraces) pickOfTransaction('traces', log.transactionIndex)
      }
    }
    for (const { request, fits } of transactions) {
      for (const transaction of block.transactions) {
        if (!fits(transaction)) continue
        picked.transactions.add(transaction)
        if (request.logs) pickOfTransaction('logs', transaction.transactionIndex)
        if (request.traces) pickOfTransaction('traces', transaction.transactionIndex)
      }
    }
    for (const { request, fits } of traces) {
      for (const trace of block.traces) {
        if (!fits(trace)) continue
        picked.traces.add(trace)
        if (request.transaction) pickOfTransaction('transactions', trace.transactionIndex)
        if (request.transactionLogs) pickOfTransaction('logs', trace.transactionIndex)
        if (request.parents) pick('traces', (other) => isInside(trace, other))
        if (request.subtraces) pick('traces', (other) => isInside(other, trace))
      }
    }
    return {
      transactions: block.transactions.filter((item) => picked.transactions.has(item)),
      logs: block.logs.filter((item) => picked.logs.has(item)),
      traces: block.traces.filter((item) => picked.traces.has(item)),
    }
  }
}

/** Whether `outer` is an ancestor of `inner` in the same call tree. */
function isInside(inner: Trace, outer: Trace): boolean {
  return (
    inner.transactionIndex === outer.transactionIndex &&
    inner.traceAddress.length > outer.traceAddress.length &&
    outer.traceAddress.every((step, depth) => inner.traceAddress[depth] === step)
  )
}

/** Undefined accepts everything; an empty list accepts nothing. */
function among(values: readonly string[] | undefined): (value: unknown) => boolean {
  if (values === undefined) return () => true
  const set = new Set<unknown>(values)
  return (value) => set.has(value)
}

function logFilter(request: LogRequest): (log: Log) => boolean {
  const address = among(request.address)
  const topics = [request.topic0, request.topic1, request.topic2, request.topic3].map(among)
  return (log) => address(log.address) && topics.every((fits, position) => fits(log.topics[position]))
}

function transactionFilter(request: TransactionRequest): (transaction: Transaction) => boolean {
  const from = among(request.from)
  const to = among(request.to)
  const sighash = among(request.sighash)
  const { firstNonce = 0, lastNonce = Number.MAX_SAFE_INTEGER } = request
  const anyNonce = request.firstNonce === undefined && request.lastNonce === undefined
  return (transaction) => {
    const nonce = Number(transaction.nonce)
    return (
      from(transaction.from) &&
      to(transaction.to) &&
      sighash(transaction.sighash) &&
      (anyNonce || (nonce >= firstNonce && nonce <= lastNonce))
    )
  }
}

function traceFilter(request: TraceRequest): (trace: Trace) => boolean {
  const type = among(request.type)
  // A list that names a field of one kind of frame fits frames of that kind alone.
  const ofKind = (values: readonly string[] | undefined, kind: Trace['type'], read: (trace: Trace) => unknown) => {
    if (values === undefined) return () => true
    const fits = among(values)
    return (trace: Trace) => trace.type === kind && fits(read(trace))
  }
  const filters = [
    ofKind(request.callTo, 'call', (trace) => trace.action.to),
    ofKind(request.callFrom, 'call', (trace) => trace.action.from),
    ofKind(request.callSighash, 'call', (trace) => trace.action.sighash),
    ofKind(request.createFrom, 'create', (trace) => trace.action.from),
    ofKind(request.createResultAddress, 'create', (trace) => trace.result?.address),
    ofKind(request.suicideRefundAddress, 'suicide', (trace) => trace.action.refundAddress),
    ofKind(request.rewardAuthor, 'reward', (trace) => trace.action.author),
  ]
  return (trace) => type(trace.type) && filters.every((fits) => fits(trace))
}
