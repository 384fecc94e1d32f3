import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { longestRetryAfterMs, readRetryAfter } from '../portal/failures.ts'
import type { SdkCall, SdkNode } from './sdk.ts'
import { hideAddresses } from './sdk-log.ts'

/** Attempts at a question that is answered with nonsense. */
const maxAttempts = 6
/** After the first; each further pause is three times as long. */
const firstPauseMs = 100
/** An answer is not JSON, has other ids or fewer parts than the question, has another shape, is cut short. */
const nonsense = ['RpcProtocolError', 'DataValidationError', 'FetchError']
const firstServerError = 500

/** The parts of the SDK's errors that are looked at. */
interface NodeError extends Error {
  readonly response?: { readonly status: number; readonly headers: Headers }
}

/**
 * Makes the SDK's client ask again when a node answers with nonsense, as nodes behind a balancer do for a moment, and
 * pause as long as an overloaded one asks for. By itself it is patient only with a node that cannot be reached or that
 * is overloaded, and ends the process with the rest.
 */
export function addPatience(node: SdkNode, log: Pick<Logger, 'warn'>): SdkNode {
  const call = node.call.bind(node)
  const batchCall = node.batchCall?.bind(node)
  const backoff = node.backoff?.bind(node)
  if (!batchCall || !backoff) throw new Error('the JSON-RPC client of this version has no batches or no pauses')
  node.call = (method, ...rest) => untilSense(method, log, () => call(method, ...rest)) as never
  // The client makes a call of a batch of one.
  node.batchCall = (batch, ...rest) =>
    batch.length > 1 ? untilSense(methodsOf(batch), log, () => batchCall(batch, ...rest)) : batchCall(batch, ...rest)
  node.backoff = (reason, request) => {
    backoff(reason, request)
    const asked = readRetryAfter((reason as NodeError).response?.headers.get('retry-after') ?? undefined)
    if (asked === undefined) return
    node.backoffTime = Math.max(node.backoffTime ?? 0, Date.now() + Math.min(asked, longestRetryAfterMs))
  }
  return node
}

/** Rejects with the last failure when every attempt met one, and with any other answer at once. */
async function untilSense<T>(methods: string, log: Pick<Logger, 'warn'>, ask: () => Promise<T>): Promise<T> {
  for (let attempt = 1, pauseMs = firstPauseMs; ; attempt++, pauseMs *= 3) {
    try {
      return await ask()
    } catch (error) {
      if (attempt === maxAttempts || !isNonsense(error as NodeError)) throw error
      const reason = hideAddresses((error as Error).message)
      log.warn(`the node's answer to ${methods} is no use: ${reason}; attempt ${attempt} of ${maxAttempts}`)
      await delay(pauseMs)
    }
  }
}

function isNonsense(error: NodeError): boolean {
  return nonsense.includes(error.name) || (error.response?.status ?? 0) >= firstServerError
}

function methodsOf(batch: readonly SdkCall[]): string {
  return [...new Set(batch.map(({ method }) => method))].join(', ')
}
