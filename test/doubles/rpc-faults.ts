export interface RpcQuestion {
  readonly id: unknown
  readonly method: string
  readonly params?: readonly unknown[]
}

export interface RpcAnswer {
  readonly jsonrpc: '2.0'
  readonly id: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

/** A fault in the answer to a request. */
export type RpcFault =
  /** An error status. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterSeconds?: number }
  /** The connection stays open and nothing comes. */
  | { readonly kind: 'silence' }
  /** The connection is reset. */
  | { readonly kind: 'reset' }
  /** The body of the right answer is changed as text. */
  | { readonly kind: 'text'; readonly change: (text: string) => string }
  /** The right answers are changed before they are sent; a single request has one. */
  | { readonly kind: 'answers'; readonly change: (answers: RpcAnswer[], questions: RpcQuestion[]) => RpcAnswer[] }

export interface RpcFaultOptions {
  /** Requests that ask for this method, alone or in a batch. Default: all. */
  readonly method?: string
  /** Such requests that are still answered properly before. Default: 0. */
  readonly skip?: number
  /** Such requests the fault then applies to; Infinity: all that come. Default: 1. */
  readonly times?: number
}

/** Faults waiting for their requests, oldest first; the first one whose turn it is applies, one a request. */
export class RpcFaults {
  #waiting: { fault: RpcFault; method: string | undefined; skip: number; times: number }[] = []

  add(fault: RpcFault, { method, skip = 0, times = 1 }: RpcFaultOptions = {}): void {
    this.#waiting.push({ fault, method, skip, times })
  }

  clear(): void {
    this.#waiting = []
  }

  /** Faults that no request has met yet, wholly or in part; those of all requests are not counted. */
  get pending(): number {
    return this.#waiting.filter(({ times }) => Number.isFinite(times)).length
  }

  /** The fault for the request that came in just now; undefined: answer it properly. */
  take(questions: readonly RpcQuestion[]): RpcFault | undefined {
    let taken: RpcFault | undefined
    for (const entry of this.#waiting) {
      if (entry.method !== undefined && !questions.some(({ method }) => method === entry.method)) continue
      if (entry.skip > 0) entry.skip--
      else if (!taken && entry.times > 0) {
        entry.times--
        taken = entry.fault
      }
    }
    this.#waiting = this.#waiting.filter(({ times }) => times > 0)
    return taken
  }
}

/** Changes the result of a method; other answers of the batch stay. */
export function changing<T>(method: string, change: (result: T) => unknown): RpcFault {
  return {
    kind: 'answers',
    change: (answers, questions) =>
      answers.map((answer) => {
        const question = questions.find(({ id }) => id === answer.id)
        return question?.method === method ? { ...answer, result: change(answer.result as T) } : answer
      }),
  }
}

/** Every answer becomes an error. */
export function refusing(code: number, message: string): RpcFault {
  return {
    kind: 'answers',
    change: (answers) => answers.map(({ id }) => ({ jsonrpc: '2.0', id, error: { code, message } })),
  }
}
