import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { readRetryAfter } from '../../hosts/retry-after.ts'
import { longestRetryAfterMs, pauseMs, type SourceWatch } from '../source-failures.ts'
import type { SdkCall, SdkCallOptions, SdkClient } from './sdk.ts'
import { hideAddresses } from './sdk-log.ts'

/** Attempts at a request that gets malformed answers. */
const maxAttempts = 6
const backoff = { baseMs: 400, capMs: 10_000 }
/** Names of the SDK's errors for malformed answers: not JSON, wrong ids, too few parts, another shape, cut short. */
const nonsense = ['RpcProtocolError', 'DataValidationError', 'FetchError']
const firstServerError = 500

/** The parts of the SDK's errors that are looked at. */
interface NodeError extends Error {
  readonly response?: { readonly status: number; readonly headers: Headers }
}

/**
 * The SDK's JSON-RPC client with its own retries. The client must be set to retry nothing; it pauses after each failure
 * of the connection. Requests are repeated here: after such a failure without limit, but not before Retry-After has
 * passed; after a malformed answer, as nodes behind a balancer give for a moment, a few times.
 */
export class PatientNode implements SdkClient {
  /** When the next request may be sent; milliseconds since 1970. */
  #quietUntil = 0

  constructor(
    private readonly client: SdkClient,
    private readonly log: Pick<Logger, 'warn'>,
    /** Called with each height that the SDK reads by eth_blockNumber; the SDK does not report it itself. */
    private readonly seeHead: (height: number) => void,
    /** Counts the node's failures; absent: they are not counted. */
    private readonly watch?: SourceWatch,
  ) {}

  get url(): string {
    return this.client.url
  }

  async call<T>(method: string, params?: unknown[], options?: SdkCallOptions): Promise<T> {
    const answer = await this.#untilSense(method, options, (once) => this.client.call<T>(method, params, once))
    if (method === 'eth_blockNumber') this.seeHead(Number(answer))
    return answer
  }

  batchCall<T>(batch: SdkCall[], options?: SdkCallOptions): Promise<T[]> {
    const methods = [...new Set(batch.map(({ method }) => method))].join(', ')
    return this.#untilSense(methods, options, (once) => this.client.batchCall<T>(batch, once))
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

  /** Repeats a request until its answer is well-formed. Rejects at once with a refusal, else with the last failure. */
  async #untilSense<T>(
    methods: string,
    { retryAttempts = Number.POSITIVE_INFINITY, ...options }: SdkCallOptions = {},
    ask: (options: SdkCallOptions) => Promise<T>,
  ): Promise<T> {
    let attempt = 1
    let retries = 0
    let endWait: (() => void) | undefined
    try {
      for (;;) {
        while (this.#quietUntil > Date.now()) await delay(this.#quietUntil - Date.now())
        try {
          return await ask({ ...options, retryAttempts: 0 })
        } catch (error) {
          const isConnection = this.client.isConnectionError(error as Error)
          if (!isConnection && !isNonsense(error as NodeError)) throw error
          const isBusy = isConnection && this.#heed(error as NodeError)
          this.watch?.note(isBusy ? 'busy' : isConnection ? 'silent' : 'useless')
          if (isConnection ? retries++ >= retryAttempts : attempt >= maxAttempts) throw error
          endWait ??= this.watch?.begin()
          if (isConnection) continue // the client itself pauses
          const reason = hideAddresses((error as Error).message)
          this.log.warn(
            `the node's answer to ${methods} cannot be used: ${reason}; attempt ${attempt} of ${maxAttempts}`,
          )
          await delay(pauseMs(backoff, attempt++))
        }
      }
    } finally {
      endWait?.()
    }
  }

  /** Whether the failure carries a Retry-After; if so, no request is sent before it has passed. */
  #heed({ response }: NodeError): boolean {
    const asked = readRetryAfter(response?.headers.get('retry-after') ?? undefined)
    if (asked === undefined) return false
    this.#quietUntil = Math.max(this.#quietUntil, Date.now() + Math.min(asked, longestRetryAfterMs))
    return true
  }
}

function isNonsense(error: NodeError): boolean {
  return nonsense.includes(error.name) || (error.response?.status ?? 0) >= firstServerError
}
