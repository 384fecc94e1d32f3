import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { hideAddresses } from '../../hosts/addresses.ts'
import { BatchSize } from '../../hosts/batch-size.ts'
import { type Meaning, meaningOfError, meaningOfStatus } from '../../hosts/meaning.ts'
import { longestRetryAfterMs, pauseMs, type SourceWatch, sourceBackoff } from '../../hosts/retries.ts'
import { readRetryAfter } from '../../hosts/retry-after.ts'
import { Seldom } from '../../hosts/seldom.ts'
import type { SdkCall, SdkCallOptions, SdkClient } from './sdk.ts'

/** Attempts at a request that gets malformed answers. */
const maxAttempts = 6
/** Failures in a row after which a batch is sent in halves, because it may be its size that fails. */
const maxBatchFailures = 3
/** The same for malformed answers and errors: some nodes refuse a whole batch with something that is no answer. */
const maxBatchErrors = 2
/** Names of the SDK's errors for malformed answers: not JSON, wrong ids, too few parts, another shape, cut short. */
const nonsense = ['RpcProtocolError', 'DataValidationError', 'FetchError']
/**
 * How often a node's error about the question is waited out, by method, where what it would tell can be read another
 * way. Other methods have none: what may change is waited for without limit.
 */
const maxRetries: Readonly<Record<string, number>> = {
  eth_getBlockReceipts: 0,
  eth_getLogs: 3,
  debug_traceTransaction: 0,
}

/** The parts of the SDK's errors that are looked at. */
interface NodeError extends Error {
  /** Of JSON-RPC errors. */
  readonly code?: number
  readonly response?: { readonly status: number; readonly headers: Headers; readonly body?: unknown }
}

interface PatientNodeOptions {
  readonly log: Pick<Logger, 'warn'>
  /** Called with each height that the SDK reads by eth_blockNumber; the SDK does not report it itself. */
  readonly seeHead: (height: number) => void
  /** Counts the node's failures; absent: they are not counted. */
  readonly watch?: SourceWatch
  /** Most calls in one request. */
  readonly batch: number
}

/**
 * The SDK's JSON-RPC client with its own retries. The client must be set to retry nothing; it pauses after each failure
 * of the connection. Requests are repeated here: after such a failure, and after an error that says that the node cannot
 * answer for now, without limit, but not before Retry-After has passed; after a malformed answer, as nodes behind a
 * balancer give for a moment, a few times. A batch that is refused is sent in halves, and later ones are no larger.
 */
export class PatientNode implements SdkClient {
  /** When the next request may be sent; milliseconds since 1970. */
  #quietUntil = 0
  readonly #size: BatchSize
  readonly #seldom = new Seldom()

  constructor(
    private readonly client: SdkClient,
    private readonly options: PatientNodeOptions,
  ) {
    this.#size = new BatchSize(options.batch)
  }

  get url(): string {
    return this.client.url
  }

  async call<T>(method: string, params?: unknown[], options?: SdkCallOptions): Promise<T> {
    const answer = await this.#patiently<T>([method], options, (once) => this.client.call<T>(method, params, once))
    if (method === 'eth_blockNumber') this.options.seeHead(Number(answer))
    return answer
  }

  async batchCall<T>(batch: SdkCall[], options?: SdkCallOptions): Promise<T[]> {
    const size = this.#size.now
    if (batch.length > size) {
      const parts = Array.from({ length: Math.ceil(batch.length / size) }, (_, at) =>
        batch.slice(at * size, (at + 1) * size),
      )
      return (await Promise.all(parts.map((part) => this.batchCall<T>(part, options)))).flat()
    }
    const methods = batch.map(({ method }) => method)
    try {
      const results = await this.#patiently<T[]>(methods, options, (once) => this.client.batchCall<T>(batch, once))
      this.#size.served(batch.length)
      return results
    } catch (error) {
      if (!(error instanceof BatchFailure)) throw error
      if (error.isRefusal) this.#size.refused(batch.length)
      else this.#size.failed(batch.length)
      this.#tell('batch', `the node fails batches of ${batch.length} calls: ${error.message}; smaller ones are sent`)
      return this.batchCall(batch, options)
    }
  }

  getConcurrency(): number {
    return this.client.getConcurrency()
  }

  getMetrics() {
    return this.client.getMetrics()
  }

  isConnectionError(error: Error): boolean {
    return this.client.isConnectionError(error)
  }

  supportsNotifications(): boolean {
    return this.client.supportsNotifications()
  }

  subscribe(subscription: unknown): unknown {
    return this.client.subscribe(subscription)
  }

  reset(reason?: Error): void {
    this.client.reset(reason)
  }

  /**
   * Repeats a request until its answer is well-formed. Rejects at once with what will not change, else with the last
   * failure; with a BatchFailure when it is worth a try to send several calls in parts.
   */
  async #patiently<T>(
    methods: readonly string[],
    { retryAttempts = Number.POSITIVE_INFINITY, ...options }: SdkCallOptions = {},
    ask: (options: SdkCallOptions) => Promise<T>,
  ): Promise<T> {
    const { watch } = this.options
    const name = [...new Set(methods)].join(', ')
    const mostRetries = Math.min(...methods.map((method) => maxRetries[method] ?? Number.POSITIVE_INFINITY))
    const isBatch = methods.length > 1
    let malformed = 0
    let retries = 0
    let refusals = 0
    let silent = 0
    let endWait: (() => void) | undefined
    try {
      for (;;) {
        while (this.#quietUntil > Date.now()) await delay(this.#quietUntil - Date.now())
        try {
          return await ask({ ...options, retryAttempts: 0 })
        } catch (thrown) {
          const error = thrown as NodeError
          const isConnection = error.name !== 'RpcError' && this.client.isConnectionError(error)
          const meaning = meaningOf(error, isConnection)
          if (!meaning) throw error
          const isBusy = this.#heed(error) || meaning === 'busy'
          watch?.note(isBusy ? 'busy' : isConnection ? 'silent' : 'useless')
          const isFinal = meaning === 'closed' || meaning === 'never' || meaning === 'large'
          if (isFinal && !isBusy) throw isBatch && meaning !== 'closed' ? new BatchFailure(error, true) : error
          const reason = hideAddresses(error.message)
          silent = isConnection ? silent + 1 : 0
          endWait ??= watch?.begin()
          if (isConnection) {
            if (retries++ >= retryAttempts) throw error
            if (isBatch && silent >= maxBatchFailures && !isBusy) throw new BatchFailure(error, false)
            continue // the client itself pauses
          }
          if (meaning === 'malformed') {
            if (isBatch && malformed + 1 >= maxBatchErrors) throw new BatchFailure(error, true)
            if (++malformed >= maxAttempts) throw error
            const attempt = `attempt ${malformed} of ${maxAttempts}`
            this.options.log.warn(`the node's answer to ${name} cannot be used: ${reason}; ${attempt}`)
            await delay(pauseMs(sourceBackoff, malformed))
            continue
          }
          const hasOtherWay = mostRetries < Number.POSITIVE_INFINITY
          if (!isBusy && hasOtherWay && (meaning === 'unclear' || refusals >= mostRetries)) throw error
          if (isBatch && !isBusy && refusals + 1 >= maxBatchErrors) throw new BatchFailure(error, false)
          if (isBusy || !hasOtherWay)
            this.#tell(meaning, `the node does not answer ${name} for now: ${reason}; it is asked until it does`)
          await delay(pauseMs(sourceBackoff, ++refusals))
        }
      }
    } finally {
      endWait?.()
    }
  }

  #tell(trouble: string, line: string) {
    if (this.#seldom.isDue(trouble)) this.options.log.warn(line)
  }

  /** Whether the failure carries a Retry-After; if so, no request is sent before it has passed. */
  #heed({ response }: NodeError): boolean {
    const asked = readRetryAfter(response?.headers.get('retry-after') ?? undefined)
    if (asked === undefined) return false
    this.#quietUntil = Math.max(this.#quietUntil, Date.now() + Math.min(asked, longestRetryAfterMs))
    return true
  }
}

/** A batch failed in a way in which its calls may succeed in smaller ones. `isRefusal`: and others of its size fail too. */
class BatchFailure extends Error {
  constructor(
    cause: Error,
    readonly isRefusal: boolean,
  ) {
    super(hideAddresses(cause.message), { cause })
  }
}

/** What a failure of the SDK's client means; undefined: it is not a failure of the node. */
function meaningOf(error: NodeError, isConnection: boolean): Meaning | 'malformed' | undefined {
  if (error.name === 'RpcError') return meaningOfError(error)
  if (error.response) {
    const { error: told } = (error.response.body ?? {}) as { error?: { code?: number; message?: string } }
    return typeof told?.message === 'string' ? meaningOfError(told) : meaningOfStatus(error.response.status)
  }
  if (nonsense.includes(error.name)) return 'malformed'
  return isConnection ? 'unready' : undefined
}
