import type { SocialFailure } from '../social/errors.ts'

/** A question to a source without an answer. It says nothing about the subject: nothing known may be cleared for it. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError'
  /** The words of the social network's failures, which mean the same here. */
  readonly failure: SocialFailure
  /** How long the host wants to be left alone; with `rate_limited` alone. */
  readonly retryAfterSeconds: number | undefined

  constructor(failure: SocialFailure, message: string, options: { retryAfterSeconds?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.failure = failure
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}
