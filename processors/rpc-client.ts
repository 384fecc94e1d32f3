import { setTimeout as delay } from 'node:timers/promises'
import { BatchSize } from '../hosts/batch-size.ts'
import { hideAddresses, hostOf } from '../hosts/host.ts'
import { type Meaning, meaningOfError } from '../hosts/meaning.ts'
import { pauseMs, Seldom, SourceFailure, type SourceWatch, sourceBackoff } from '../hosts/retries.ts'
import { Refusal } from '../ops/cli.ts'

export interface RpcCall {
  readonly method: string
  readonly params?: readonly unknown[]
}

/** How calls reach a node. */
export interface RpcTransport {
  readonly url: string
  /**
   * Sends some calls in one request. Resolves with a result or an RpcError for each, in their order; rejects when there
   * was no answer.
   */
  send(calls: readonly RpcCall[]): Promise<unknown[]>
  /** Absent: the node tells nothing unasked. */
  subscribe?(subscription: unknown): unknown
  reset?(reason?: Error): void
}

/** `malformed`: something that is no answer to the question. `silent`: no answer. */
type Trouble = Meaning | 'malformed' | 'silent'

/** The node answered a call with an error, or with something that is no answer to it. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  constructor(
    message: string,
    readonly meaning: Trouble,
    readonly retryAfterMs?: number,
    cause?: unknown,
    /** Whether the request was refused, as a balancer does for its node: nothing was said of the call. */
    readonly isOfRequest = false,
  ) {
    super(hideAddresses(message), { cause })
  }

  /** The error that an answer tells. */
  static of({ code, message }: { code?: number; message?: string }, retryAfterMs?: number): RpcError {
    const text = `${message ?? 'an error'}${code === undefined ? '' : ` (${code})`}`
    return new RpcError(text, meaningOfError({ code, message }), retryAfterMs)
  }
}

interface RpcOptions {
  /** Most calls in one request. */
  readonly batch: number
  /**
   * For a caller that asks again or for less by itself: failures of a request after which one is passed on. An error that
   * the node tells of a single call is passed on at once, unless only the same call can tell what is asked and it may
   * soon be answered. Absent: whatever may change is waited for.
   */
  readonly attempts?: number
  /** Counts the node's failures; absent: they are not counted. */
  readonly watch?: SourceWatch
  readonly log?: { warn(text: string): void }
  /** Called with each height that eth_blockNumber tells. */
  readonly seeHead?: (height: number) => void
}

/** What the SDK says of a call. */
interface CallOptions {
  /** Calls of lower numbers are sent first. */
  readonly priority?: number
  /** Throws when a result cannot be used. */
  readonly validateResult?: (result: never, call: never) => unknown
  /** Takes an error for a result, or throws. */
  readonly validateError?: (error: never, call: never) => unknown
}

/** Most requests in flight. */
const maxRequests = 8
/** Failures in a row after which a batch is sent in parts, because it may be its size that is not answered. */
const maxBatchFailures = 2
/**
 * How often a node's error about the question is waited out, by method, where what it would tell can be read another
 * way. Other methods have none: what may change is waited for without limit.
 */
const maxRetries: Readonly<Record<string, number>> = {
  eth_getBlockReceipts: 0,
  eth_getLogs: 3,
  debug_traceTransaction: 0,
}
/** The same for malformed answers, as nodes behind a balancer give for a moment. */
const maxMalformed = 5

/**
 * JSON-RPC calls to a node, for the head and for history alike: in batches as large as the node takes, a few at a time,
 * and the pauses it asks for hold for all of them. A call that fails in a batch is repeated in a smaller one.
 */
export class RpcClient {
  /** Name of the node, for messages. */
  readonly name: string
  readonly #size: BatchSize
  #running = 0
  readonly #queue: { readonly priority: number; readonly start: () => void }[] = []
  /** When the next request may be sent; milliseconds since 1970. */
  #quietUntil = 0
  readonly #seldom = new Seldom()
  readonly #requests = { served: 0, failed: 0 }

  constructor(
    private readonly transport: RpcTransport,
    private readonly options: RpcOptions,
  ) {
    this.name = nameOf(transport.url)
    this.#size = new BatchSize(options.batch)
  }

  get url(): string {
    return this.transport.url
  }

  /**
   * The result of a call; null where the node has nothing. Rejects with an RpcError when the node refuses it for good or
   * it can be read another way; with other failures after `attempts`.
   */
  async call<T = unknown>(method: string, params: readonly unknown[] = [], options: CallOptions = {}): Promise<T> {
    const [result] = await this.#results([{ method, params }], options)
    if (method === 'eth_blockNumber') this.options.seeHead?.(Number(result))
    return result as T
  }

  /** The results of some calls, in their order. Rejects as `call` does when one of them fails even alone. */
  async batchCall<T = unknown>(calls: readonly RpcCall[], options: CallOptions = {}): Promise<T[]> {
    return (await this.#inParts(calls, this.#size.now, options)) as T[]
  }

  getConcurrency(): number {
    return maxRequests
  }

  getMetrics() {
    const { served, failed } = this.#requests
    return { url: this.url, requestsServed: served, connectionErrors: failed }
  }

  supportsNotifications(): boolean {
    return this.transport.subscribe !== undefined
  }

  subscribe(subscription: unknown): unknown {
    return this.transport.subscribe?.(subscription)
  }

  reset(reason?: Error): void {
    this.transport.reset?.(reason)
  }

  async #inParts(calls: readonly RpcCall[], size: number, options: CallOptions): Promise<unknown[]> {
    const parts: Promise<unknown[]>[] = []
    for (let at = 0; at < calls.length; at += size) parts.push(this.#results(calls.slice(at, at + size), options))
    return (await Promise.all(parts)).flat()
  }

  /** Results of one batch. What fails in it is repeated, in smaller ones where its size may be the reason. */
  async #results(calls: readonly RpcCall[], options: CallOptions): Promise<unknown[]> {
    const results: unknown[] = []
    let left = [...calls.keys()]
    let endWait: (() => void) | undefined
    try {
      for (let failures = 1; ; failures++) {
        const asked = left.map((at) => calls[at] as RpcCall)
        const answers = await this.#inTurn(options.priority ?? 0, () => this.#send(asked, options))
        for (const [place, at] of left.entries()) results[at] = answers[place]
        left = left.filter((at) => results[at] instanceof RpcError)
        if (left.length === 0) return results
        const again = left.map((at) => calls[at] as RpcCall)
        const errors = left.map((at) => results[at] as RpcError)
        endWait ??= this.options.watch?.begin(`the node does not answer ${methodsOf(again)}: ${errors[0]?.message}`)
        const size = await this.#afterFailure(again, errors, asked.length, failures)
        if (size >= left.length) continue
        const found = await this.#inParts(again, size, options)
        for (const [place, at] of left.entries()) results[at] = found[place]
        return results
      }
    } finally {
      endWait?.()
    }
  }

  /** Sends one request. A call that failed has an RpcError in the place of its result. */
  async #send(calls: readonly RpcCall[], { validateResult, validateError }: CallOptions): Promise<unknown[]> {
    let answers: unknown[]
    try {
      answers = await this.transport.send(calls)
    } catch (error) {
      const { message, code, name } = error as NodeJS.ErrnoException
      return calls.map(() => new RpcError(message || code || name, 'silent', undefined, error))
    }
    const taken = answers.map((answer, at) => {
      const validate = answer instanceof RpcError ? validateError : validateResult
      if (!validate) return answer
      try {
        return validate(answer as never, calls[at] as never)
      } catch (error) {
        return answer instanceof RpcError ? answer : new RpcError((error as Error).message, 'malformed')
      }
    })
    if (taken.some((answer) => answer instanceof RpcError)) return taken
    this.#requests.served++
    this.#size.served(calls.length)
    return taken
  }

  /**
   * Pauses after some calls of a request of `asked` failed. Resolves with the size of the next request; rejects with
   * what is not worth one.
   */
  async #afterFailure(
    calls: readonly RpcCall[],
    errors: readonly RpcError[],
    asked: number,
    failures: number,
  ): Promise<number> {
    const { attempts, watch } = this.options
    const error = errors.find(isBusy) ?? (errors[0] as RpcError)
    const trouble = isBusy(error) ? 'busy' : error.meaning
    watch?.note(trouble === 'busy' || trouble === 'silent' ? trouble : 'useless')
    if (trouble === 'closed') {
      throw attempts ? new Refusal(`${this.name}: ${error.message}; check the address and its key`) : error
    }
    const isLost = trouble === 'busy' || trouble === 'silent'
    if (isLost || trouble === 'unready') this.#requests.failed++
    const pause = pauseMs(sourceBackoff, failures, error.retryAfterMs)
    const half = Math.ceil(calls.length / 2)
    if (isLost) {
      this.#quietUntil = Math.max(
        this.#quietUntil,
        Date.now() + (attempts ? Math.min(pause, sourceBackoff.capMs) : pause),
      )
      if (attempts && (failures >= attempts || pause > sourceBackoff.capMs)) throw this.#failure(error)
      if (calls.length > 1 && (trouble === 'busy' || failures >= maxBatchFailures)) {
        this.#size.failed(calls.length)
        if (trouble === 'silent') this.#tellBatch(calls, error)
        return Math.min(this.#size.now, half)
      }
      this.#tellWait(calls, trouble, error)
      return calls.length
    }
    if (calls.length > 1 || asked > 1) {
      const isPassing = trouble === 'unready' || trouble === 'unclear'
      if (calls.length === asked && isPassing) this.#size.failed(asked)
      else if (calls.length === asked) this.#size.refused(asked)
      if (isPassing && (!attempts || error.isOfRequest)) await delay(pause)
      this.#tellBatch(calls, error)
      return half
    }
    if (this.#isForCaller(calls[0]?.method ?? '', error, failures)) throw this.#failure(error)
    this.#tellWait(calls, trouble, error)
    await delay(pause)
    return 1
  }

  /** Whether the error of a single call is the caller's affair. */
  #isForCaller(method: string, { meaning: trouble, isOfRequest }: RpcError, failures: number): boolean {
    const { attempts } = this.options
    if (trouble === 'never' || trouble === 'large') return true
    const most = maxRetries[method]
    if (trouble === 'malformed') return failures >= (attempts ?? (most === undefined ? Infinity : maxMalformed + 1))
    if (attempts) {
      // One failure of the many single calls of a batch would else fail all of it, and it again the next time.
      const isWorthAnother = trouble === 'unready' && (isOfRequest || most === undefined)
      return !isWorthAnother || failures >= attempts
    }
    return most !== undefined && (trouble === 'unclear' || failures > most)
  }

  /** What the caller gets: an RpcError only where the node answered. */
  #failure(error: RpcError): Error {
    if (error.meaning === 'silent') return error.cause as Error
    if (isBusy(error) || (error.meaning === 'malformed' && this.options.attempts))
      return new SourceFailure(`${this.name}: ${error.message}`, error.retryAfterMs)
    return error
  }

  #tellBatch(calls: readonly RpcCall[], error: RpcError) {
    this.#tell('batch', `the node fails batches of ${calls.length} calls: ${error.message}; smaller ones are sent`)
  }

  #tellWait(calls: readonly RpcCall[], trouble: Trouble, { message }: RpcError) {
    const isPassing = trouble === 'unready' || trouble === 'unclear'
    if (isPassing && calls.some(({ method }) => method in maxRetries)) return // the caller soon reads it another way
    this.#tell(trouble, `the node does not answer ${methodsOf(calls)} for now: ${message}; it is asked until it does`)
  }

  #tell(trouble: string, line: string) {
    if (this.options.log && this.#seldom.isDue(trouble)) this.options.log.warn(line)
  }

  async #inTurn<T>(priority: number, work: () => Promise<T>): Promise<T> {
    if (this.#running >= maxRequests) {
      await new Promise<void>((start) => {
        const place = this.#queue.findIndex((other) => other.priority > priority)
        this.#queue.splice(place < 0 ? this.#queue.length : place, 0, { priority, start })
      })
    } else this.#running++
    try {
      while (this.#quietUntil > Date.now()) await delay(this.#quietUntil - Date.now())
      return await work()
    } finally {
      const next = this.#queue.shift()
      if (next) next.start()
      else this.#running--
    }
  }
}

/** Whether the node may answer the same call another time. */
export function mayPass(error: Error): boolean {
  return !(error instanceof RpcError) || !['never', 'closed', 'large'].includes(error.meaning)
}

export function nameOf(url: string): string {
  return `the RPC endpoint ${hostOf(url)}`
}

function methodsOf(calls: readonly RpcCall[]): string {
  return [...new Set(calls.map(({ method }) => method))].join(', ')
}

function isBusy({ meaning, retryAfterMs }: RpcError): boolean {
  return meaning === 'busy' || retryAfterMs !== undefined
}
