import { meaningOfStatus } from '../hosts/meaning.ts'
import { readRetryAfter } from '../hosts/retry-after.ts'
import { nameOf, type RpcCall, RpcError, type RpcTransport } from './rpc-client.ts'
import { ask, bytesOf, type SourceAnswer, textOf } from './source-request.ts'

/** Longest answer, in bytes. */
const maxAnswerBytes = 64 * 1024 * 1024
/** Most characters that are read of an error, and that a message shows of it. */
const maxErrorText = 4_000
const maxShown = 200

interface Answer {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly code?: number; readonly message?: string }
}

/** JSON-RPC over HTTP. */
export class HttpTransport implements RpcTransport {
  constructor(readonly url: string) {}

  async send(calls: readonly RpcCall[]): Promise<unknown[]> {
    const questions = calls.map(({ method, params = [] }, id) => ({ jsonrpc: '2.0', id, method, params }))
    const body = JSON.stringify(questions.length === 1 ? questions[0] : questions)
    const answer = await ask({ url: new URL(this.url), method: 'POST', body })
    const retryAfterMs = readRetryAfter(answer.headers['retry-after'])
    const all = (error: RpcError) => calls.map(() => error)
    if (answer.status !== 200) return all(await this.#refusal(answer, retryAfterMs))
    const bytes = await bytesOf(answer, maxAnswerBytes)
    if (!bytes) return all(new RpcError(`an answer of more than ${maxAnswerBytes} bytes`, 'large'))
    const parsed = parse(bytes.toString())
    if (parsed === undefined) return all(new RpcError(`no JSON: ${bytes.toString('utf8', 0, maxShown)}`, 'malformed'))
    const answers = (Array.isArray(parsed) ? parsed : [parsed]) as readonly (Answer | null)[]
    if (!Array.isArray(parsed) && calls.length > 1) return all(errorOf(answers[0], undefined))
    return calls.map((_, id) => {
      const one = answers.find((other) => other?.id === id) ?? (calls.length === 1 ? answers[0] : undefined)
      return one?.id === id && !one.error && 'result' in one ? one.result : errorOf(one, retryAfterMs)
    })
  }

  /** An answer of another status than 200: its text may be an error of JSON-RPC, which says more. */
  async #refusal(answer: SourceAnswer, retryAfterMs: number | undefined): Promise<RpcError> {
    const text = await textOf(answer, maxErrorText)
    const { error } = (parse(text) ?? {}) as Answer
    const told = error?.message ? RpcError.of(error).meaning : 'unclear'
    const meaning = told === 'unclear' ? meaningOfStatus(answer.status) : told
    const problem = `${nameOf(this.url)} answers ${answer.status}${text ? `: ${text.slice(0, maxShown)}` : ''}`
    return new RpcError(problem, meaning, retryAfterMs, undefined, told === 'unclear')
  }
}

function errorOf(answer: Answer | null | undefined, retryAfterMs: number | undefined): RpcError {
  if (!answer?.error) return new RpcError('nothing that is an answer', 'malformed')
  return RpcError.of(answer.error, retryAfterMs)
}

/** Undefined: the text is no JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
