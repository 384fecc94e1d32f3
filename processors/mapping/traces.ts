import { setTimeout as delay } from 'node:timers/promises'
import { settlementSelectors } from '../../abi/selectors.ts'
import type { FindCalls, TokenCall } from './settlements.ts'

/** A node of what `debug_traceTransaction` answers with the callTracer. */
interface CallFrame {
  readonly type: string
  readonly to?: string
  readonly input?: string
  /** Present: this call and all calls below it were reverted. */
  readonly error?: string
  readonly calls?: readonly CallFrame[]
}

/** A call as the archives list it: its place in the tree instead of its children. */
export interface FlatTrace {
  readonly transactionIndex: number
  readonly traceAddress: readonly number[]
  readonly type: string
  readonly error?: string | null
  readonly action?: { readonly callType?: string; readonly to?: string; readonly input?: string }
}

/** An archive that answers a query of the archive protocol with blocks. */
export interface TraceArchive {
  query(query: object): Promise<{ header: { number: number }; traces?: FlatTrace[] }[]>
}

/** A node of the chain. */
export interface TraceNode {
  call(method: string, params: unknown[]): Promise<unknown>
}

/** Where traces can be asked for; what is absent is not asked. */
interface TraceSources {
  readonly archive?: TraceArchive
  /** Highest block the archive holds; undefined: not known yet. */
  readonly archiveHeight?: () => number | undefined
  readonly node?: TraceNode
  readonly tokens: ReadonlySet<string>
  /** Whether an error is the node's answer that it has no trace. Any other error is a failure and is thrown. */
  readonly isRefusal: (error: unknown) => boolean
  readonly onRefusal: (txHash: string, error: Error) => void
}

/**
 * Attempts at a trace that a node does not have: behind the address of the node that gave the block there may be others
 * that do not have the block yet.
 */
const maxAttempts = 8
const retryMs = 400
/** Blocks whose traces are remembered: as many as are read at a time, and some. */
const rememberedBlocks = 16

/**
 * Looks up a transaction's calls: in the archive when it holds the block, else at the node. A trace without a call to a
 * token counts as missing, because a token executed an authorization in the transaction.
 */
export function createTraceLookup({ archive, archiveHeight, node, tokens, ...refusals }: TraceSources): FindCalls {
  const isTrace = (calls: readonly TokenCall[]) => calls.some(({ to }) => tokens.has(to))
  const askNode = node && createNodeLookup(node, isTrace, refusals)
  const tracesOf = archive && createBlockTraces(archive, tokens)
  return async ({ block, transaction }) => {
    if (tracesOf && block.height <= (archiveHeight?.() ?? -1)) {
      const traces = await tracesOf(block.height)
      const { transactionIndex } = transaction
      const calls = callsInArchive(traces.filter((trace) => trace.transactionIndex === transactionIndex))
      if (isTrace(calls)) return calls
      if (!askNode) refusals.onRefusal(transaction.hash, new Error('the archive does not have it'))
    }
    return askNode?.(transaction.hash)
  }
}

/** Asks an archive for the traces of final blocks, once for all transactions of a block that are looked up in a row. */
function createBlockTraces(archive: TraceArchive, tokens: ReadonlySet<string>) {
  const asked = new Map<number, Promise<FlatTrace[]>>()
  return (height: number): Promise<FlatTrace[]> => {
    const known = asked.get(height)
    if (known) return known
    const answer = archive
      .query(traceQuery(height, tokens))
      .then((blocks) => blocks.find(({ header }) => header.number === height)?.traces ?? [])
    asked.set(height, answer)
    answer.catch(() => asked.delete(height))
    const [oldest] = asked.keys()
    if (asked.size > rememberedBlocks && oldest !== undefined) asked.delete(oldest)
    return answer
  }
}

/** Trace lookup at a node. Once all attempts were refused it makes only one per transaction, until a trace comes. */
function createNodeLookup(
  node: TraceNode,
  isTrace: (calls: readonly TokenCall[]) => boolean,
  { isRefusal, onRefusal }: Pick<TraceSources, 'isRefusal' | 'onRefusal'>,
) {
  let attempts = maxAttempts
  return async (txHash: string): Promise<TokenCall[] | undefined> => {
    for (let attempt = 1; ; attempt++) {
      let problem = new Error('the node does not have the transaction')
      try {
        const frame = await node.call('debug_traceTransaction', [txHash, { tracer: 'callTracer' }])
        const calls = frame ? callsInFrame(frame as CallFrame) : []
        if (isTrace(calls)) {
          attempts = maxAttempts
          return calls
        }
      } catch (error) {
        if (!isRefusal(error)) throw error
        problem = error as Error
      }
      if (attempt >= attempts) {
        attempts = 1
        onRefusal(txHash, problem)
        return undefined
      }
      await delay(retryMs)
    }
  }
}

/** Only calls that can have executed an authorization: a block's calls to a dollar token can be thousands. */
function traceQuery(height: number, tokens: ReadonlySet<string>) {
  return {
    fromBlock: height,
    toBlock: height,
    fields: { trace: { error: true, callCallType: true, callTo: true, callInput: true } },
    traces: [{ type: ['call'], callTo: [...tokens], callSighash: [...settlementSelectors], parents: true }],
  }
}

/** Plain calls that were not reverted. A delegatecall does not count: a proxy repeats its input in one. */
export function callsInFrame(frame: CallFrame): TokenCall[] {
  if (frame.error !== undefined) return []
  const below = (frame.calls ?? []).flatMap(callsInFrame)
  if (frame.type !== 'CALL' || !frame.to || !frame.input) return below
  return [{ to: frame.to.toLowerCase(), input: frame.input.toLowerCase() }, ...below]
}

/** Plain calls of one transaction that were not reverted. `traces` must hold all their ancestors. */
export function callsInArchive(traces: readonly FlatTrace[]): TokenCall[] {
  const undone = traces.filter(({ error }) => error != null).map(({ traceAddress }) => traceAddress)
  const calls: TokenCall[] = []
  for (const { type, traceAddress, action } of traces) {
    if (type !== 'call' || action?.callType !== 'call' || !action.to || !action.input) continue
    if (undone.some((top) => top.every((step, depth) => traceAddress[depth] === step))) continue
    calls.push({ to: action.to.toLowerCase(), input: action.input.toLowerCase() })
  }
  return calls
}
