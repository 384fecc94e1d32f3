/**
 * What kept a host from answering:
 * `rate_limited` asked to wait; `unavailable` no answer or a 5xx; `bad_answer` an answer that is not what it should be;
 * `refused` a 4xx that is not the host's way of saying "there is none".
 */
type Failure = 'rate_limited' | 'unavailable' | 'bad_answer' | 'refused'

/** A question without an answer. It says nothing about the subject: nothing known may be cleared because of it. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  readonly failure: Failure
  /** Retry-After of the host, or the usual pause where it names none; with `rate_limited` always, and only then. */
  readonly retryAfterSeconds: number | undefined
  /** Whether only what was asked about is to blame, such as an account with a forged message; the host did answer. */
  readonly isAboutOne: boolean

  constructor(failure: Failure, message: string, options: NoAnswerOptions = {}) {
    super(message, { cause: options.cause })
    this.failure = failure
    this.retryAfterSeconds = options.retryAfterSeconds
    this.isAboutOne = options.isAboutOne ?? false
  }
}

interface NoAnswerOptions {
  readonly retryAfterSeconds?: number
  readonly cause?: unknown
  readonly isAboutOne?: boolean
}

/** A bad answer that counts against the one subject that was asked about, not against its host. */
export function badAboutOne(message: string, cause?: unknown): NoAnswer {
  return new NoAnswer('bad_answer', message, { cause, isAboutOne: true })
}
