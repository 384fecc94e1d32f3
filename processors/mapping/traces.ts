import { setTimeout as delay } from 'node:timers/promises'
import { pauseMs, sourceBackoff } from '../../hosts/retries.ts'
import { minute } from '../../ops/time.ts'
import type { SettlingTransaction } from './block.ts'
import type { Tokens } from './scale.ts'
import type { FindCalls, TokenCall } from './settlements.ts'
import { type FlatTrace, type TraceArchive, tracesIn } from './trace-query.ts'

/** A node of what `debug_traceTransaction` answers with the callTracer. */
interface CallFrame {
  readonly type: string
  readonly to?: string
  readonly input?: string
  /** Present: this call and all calls below it were reverted. */
  readonly error?: string
  readonly calls?: readonly CallFrame[]
}

/** A node of the chain. */
export interface TraceNode {
  call(method: string, params: unknown[]): Promise<unknown>
  /** Several calls in one request; rejects when one of them is refused. Absent: it is asked for one at a time. */
  batchCall?(calls: readonly { readonly method: string; readonly params: unknown[] }[]): Promise<unknown[]>
}

/** Where traces can be asked for; what is absent is not asked. */
interface TraceSources {
  readonly archive?: TraceArchive
  /** Highest block the archive holds; undefined: not known yet. */
  readonly archiveHeight?: () => number | undefined
  readonly node?: TraceNode
  readonly tokens: Pick<Tokens, 'has' | 'keys'>
  /** Whether an error is the node's answer that it has no trace. Any other error is a failure and is thrown. */
  readonly isRefusal: (error: unknown) => boolean
  readonly onRefusal: (txHash: string, error: Error) => void
  /** Whether such an answer may be another one later; absent: none may. */
  readonly mayPass?: (error: Error) => boolean
  /** Called when a trace is waited for longer than nodes usually differ. */
  readonly onWait?: (txHash: string, error: Error) => void
  /** Milliseconds for which it is; then the selector is inferred. Default: `waitMs`. */
  readonly waitMs?: number
}

/**
 * Attempts at a trace that a node does not have: behind the address of the node that gave the block there may be others
 * that do not have the block yet.
 */
const maxAttempts = 8
const retryMs = 400
/**
 * Longest wait for a trace that may still come: less than a processor may rest before it counts as hung, because a node
 * can fail at one transaction for ever.
 */
const waitMs = 5 * minute
/** Traces that a node is asked for at a time: one can be of some megabytes. */
const tracesAtOnce = 16

/** A transaction that is looked up, and who waits for its calls. */
interface Question {
  readonly settling: SettlingTransaction
  readonly resolve: (calls: readonly TokenCall[] | undefined) => void
  readonly reject: (error: unknown) => void
}

/**
 * Looks up transactions' calls: in the archive when it holds the block, else at the node. What is asked for in one turn
 * of the event loop is looked up together, in few requests. A trace without a call to a token counts as missing, because
 * a token executed an authorization in the transaction.
 */
export function createTraceLookup({ archive, archiveHeight, node, tokens, ...refusals }: TraceSources): FindCalls {
  const isTrace = (calls: readonly TokenCall[]) => calls.some(({ to }) => tokens.has(to))
  const nodeLookup = node && new NodeLookup(node, isTrace, refusals)
  const isHeld = ({ settling: { block } }: Question) => archive && block.height <= (archiveHeight?.() ?? -1)

  /** Answers from the archive what it can. Returns the other questions. */
  async function askArchive(questions: readonly Question[]): Promise<Question[]> {
    const held = questions.filter(isHeld)
    if (!archive || held.length === 0) return [...questions]
    const traces = await tracesIn(
      archive,
      tokens,
      held.map(({ settling }) => settling.block.height),
    )
    const answered = new Set<Question>()
    for (const question of held) {
      const { block, transaction } = question.settling
      const own = traces.get(block.height)?.filter((trace) => trace.transactionIndex === transaction.transactionIndex)
      const calls = callsInArchive(own ?? [])
      if (isTrace(calls)) question.resolve(calls)
      else if (nodeLookup) continue
      else {
        refusals.onRefusal(transaction.hash, new Error('the archive does not have it'))
        question.resolve(undefined)
      }
      answered.add(question)
    }
    return questions.filter((question) => !answered.has(question))
  }

  async function answer(questions: readonly Question[]) {
    try {
      const rest = await askArchive(questions)
      if (!nodeLookup) for (const { resolve } of rest) resolve(undefined)
      else
        for (let at = 0; at < rest.length; at += tracesAtOnce) await nodeLookup.ask(rest.slice(at, at + tracesAtOnce))
    } catch (error) {
      for (const { reject } of questions) reject(error) // those that are answered hear nothing of it
    }
  }

  const waiting: Question[] = []
  return (settling) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(() => answer(waiting.splice(0)))
      waiting.push({ settling, resolve, reject })
    })
}

/**
 * Trace lookup at a node: in one request, then one by one for those that it does not give. What may pass is waited for.
 * Once all attempts at a trace were refused it makes only one per transaction, until a trace comes.
 */
class NodeLookup {
  #attempts = maxAttempts

  constructor(
    private readonly node: TraceNode,
    private readonly isTrace: (calls: readonly TokenCall[]) => boolean,
    private readonly options: Omit<TraceSources, 'archive' | 'archiveHeight' | 'node' | 'tokens'>,
  ) {}

  async ask(questions: readonly Question[]): Promise<void> {
    const [first, ...others] = await this.#together(questions)
    if (first) await this.#alone(first) // tells whether more than one attempt is worth it
    await Promise.all(others.map((one) => this.#alone(one)))
  }

  async #together(questions: readonly Question[]): Promise<Question[]> {
    if (!this.node.batchCall || questions.length === 1 || this.#attempts < maxAttempts) return [...questions]
    const frames = await this.node.batchCall(questions.map(callFor)).catch((error) => {
      if (!this.options.isRefusal(error)) throw error
      return []
    })
    return questions.filter((question, at) => {
      const calls = this.#callsOf(frames[at])
      if (calls) question.resolve(calls)
      return !calls
    })
  }

  async #alone(question: Question): Promise<void> {
    const { isRefusal, onRefusal, mayPass = () => false, onWait = () => {} } = this.options
    const { method, params } = callFor(question)
    const { hash } = question.settling.transaction
    const lastAt = Date.now() + (this.options.waitMs ?? waitMs)
    for (let attempt = 1; ; attempt++) {
      let problem = new Error('the node does not have the transaction')
      let isPassing = false
      try {
        const frame = await this.node.call(method, params)
        const calls = this.#callsOf(frame)
        if (calls) {
          this.#attempts = maxAttempts
          return question.resolve(calls)
        }
        isPassing = frame === null && mayPass(problem)
      } catch (error) {
        if (!isRefusal(error)) throw error
        problem = error as Error
        isPassing = mayPass(problem)
      }
      const late = attempt - maxAttempts
      if (attempt >= this.#attempts && !(isPassing && this.#attempts === maxAttempts && Date.now() < lastAt)) {
        this.#attempts = 1
        onRefusal(hash, problem)
        return question.resolve(undefined)
      }
      if (late === 0) onWait(hash, problem)
      await delay(late < 0 ? retryMs : pauseMs(sourceBackoff, late + 1))
    }
  }

  #callsOf(frame: unknown): TokenCall[] | undefined {
    const calls = frame ? callsInFrame(frame as CallFrame) : []
    return this.isTrace(calls) ? calls : undefined
  }
}

function callFor({ settling }: Question) {
  return {
    method: 'debug_traceTransaction',
    params: [settling.transaction.hash, { tracer: 'callTracer' }],
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
