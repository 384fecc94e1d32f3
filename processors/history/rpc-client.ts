import { setTimeout as delay } from 'node:timers/promises'
import { hideAddresses, hostOf } from '../../hosts/addresses.ts'
import { BatchSize } from '../../hosts/batch-size.ts'
import { meaningOfError, meaningOfStatus } from '../../hosts/meaning.ts'
import { pauseMs, SourceFailure, sourceBackoff } from '../../hosts/retries.ts'
import { readRetryAfter } from '../../hosts/retry-after.ts'
import { Refusal } from '../refusal.ts'
import { ask, bytesOf, problemOf } from '../source-request.ts'

export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/** The endpoint answered a call with an error. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
}

/** Most requests in flight. */
const maxRequests = 8
/** Longest answer, in bytes. */
const maxAnswerBytes = 64 * 1024 * 1024
/** Most characters that a message shows of an answer. */
const maxShown = 80
/** Attempts after which a failure is passed on and logged; so is one whose pause is longer than the longest backoff. */
const maxQuietAttempts = 4

interface Answer {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly code?: number; readonly message?: string }
}

/**
 * JSON-RPC over HTTP for reading history: calls go in batches as large as the endpoint takes, a few at a time, and the
 * pauses it asks for hold for all of them.
 */
export class RpcClient {
  /** Name of the endpoint, for messages. */
  readonly name: string
  readonly #url: URL
  /** Calls of the next request: fewer after a failure, because many endpoints count calls. */
  readonly #size: BatchSize
  #running = 0
  readonly #queue: (() => void)[] = []
  /** When the next request may be sent; milliseconds since 1970. */
  #quietUntil = 0

  /** `batch`: most calls in one request. Throws when the address is not http(s). */
  constructor(url: string, batch: number) {
    this.#url = new URL(url)
    this.#size = new BatchSize(batch)
    this.name = `the RPC endpoint ${hostOf(url)}`
    if (!/^https?:$/.test(this.#url.protocol))
      throw new Refusal(`${this.name}: history can only be read over http or https`)
  }

  /**
   * The results of some calls, in their order; null where the node has nothing. Rejects with an RpcError when it
   * refuses one of them even alone, with a SourceFailure when it does not answer.
   */
  batch(calls: readonly RpcCall[]): Promise<unknown[]> {
    return this.#inParts(calls, this.#size.now)
  }

  async call(method: string, params: readonly unknown[]): Promise<unknown> {
    return (await this.batch([{ method, params }]))[0]
  }

  async #inParts(calls: readonly RpcCall[], size: number): Promise<unknown[]> {
    const parts: Promise<unknown[]>[] = []
    for (let at = 0; at < calls.length; at += size) parts.push(this.#results(calls.slice(at, at + size)))
    return (await Promise.all(parts)).flat()
  }

  /** Results of one batch. Calls that are refused are repeated in smaller ones: the batch may have been too large. */
  async #results(calls: readonly RpcCall[]): Promise<unknown[]> {
    const results = await this.#patiently(calls)
    const refused = calls.filter((_, at) => results[at] instanceof RpcError)
    if (refused.length === 0) return results
    if (calls.length === 1) throw results[0]
    const half = Math.ceil(refused.length / 2)
    if (refused.length === calls.length) this.#size.refused(refused.length)
    const again = await this.#inParts(refused, half)
    return results.map((result) => (result instanceof RpcError ? again.shift() : result))
  }

  async #patiently(calls: readonly RpcCall[]): Promise<unknown[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        const results = await this.#inTurn(() => this.#post(calls))
        this.#size.served(calls.length)
        return results
      } catch (error) {
        const pause = pauseMs(sourceBackoff, attempt, (error as Partial<SourceFailure>).retryAfterMs)
        this.#quietUntil = Math.max(this.#quietUntil, Date.now() + Math.min(pause, sourceBackoff.capMs))
        if (error instanceof Refusal || attempt === maxQuietAttempts || pause > sourceBackoff.capMs) throw error
        this.#size.failed(calls.length)
        if (calls.length > this.#size.now) return this.#inParts(calls, this.#size.now)
      }
    }
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= maxRequests) await new Promise<void>((resolve) => this.#queue.push(resolve))
    else this.#running++
    try {
      while (this.#quietUntil > Date.now()) await delay(this.#quietUntil - Date.now())
      return await work()
    } finally {
      const next = this.#queue.shift()
      if (next) next()
      else this.#running--
    }
  }

  /** Sends one request. A call that was refused has an RpcError in the place of its result. */
  async #post(calls: readonly RpcCall[]): Promise<unknown[]> {
    const questions = calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }))
    const body = JSON.stringify(questions.length === 1 ? questions[0] : questions)
    const answer = await ask({ url: this.#url, method: 'POST', body })
    if (answer.status !== 200) {
      const problem = await problemOf(this.name, answer)
      if (meaningOfStatus(answer.status) === 'closed') throw new Refusal(`${problem}; check the address and its key`)
      return calls.map(() => new RpcError(problem)) // too many calls, or too much asked for
    }
    const parsed = this.#parse((await bytesOf(answer, maxAnswerBytes))?.toString() ?? tooLong)
    const answers = (Array.isArray(parsed) ? parsed : [parsed]) as readonly (Answer | null)[]
    const limited = answers.find((one) => one?.error && meaningOfError(one.error) === 'busy')
    if (limited)
      throw new SourceFailure(`${this.name}: ${limited.error?.message}`, readRetryAfter(answer.headers['retry-after']))
    if (!Array.isArray(parsed) && calls.length > 1) {
      return calls.map(() => new RpcError(`${this.name} answers a batch with ${describe(answers[0])}`))
    }
    return calls.map((call, id) => {
      const one = answers.find((other) => other?.id === id) ?? (calls.length === 1 ? answers[0] : undefined)
      if (one?.id === id && !one.error && 'result' in one) return one.result
      return new RpcError(`${this.name} answers ${call.method} with ${describe(one)}`)
    })
  }

  #parse(text: string): unknown {
    try {
      return JSON.parse(text)
    } catch {
      throw new SourceFailure(`${this.name} answers no JSON: ${hideAddresses(text.slice(0, maxShown))}`)
    }
  }
}

/** Replaces an answer that is too long to hold in memory: its calls are then repeated in smaller batches. */
const tooLong = JSON.stringify({ error: { message: `an answer of more than ${maxAnswerBytes} bytes` } })

function describe(answer: Answer | null | undefined): string {
  const { code, message } = answer?.error ?? {}
  if (message === undefined && code === undefined) return 'nothing that is an answer'
  return `${hideAddresses(message ?? 'an error')}${code === undefined ? '' : ` (${code})`}`
}
