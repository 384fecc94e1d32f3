/** Every code a client can receive, and the HTTP status it comes with. The list is closed: docs/rules.md 4. */
export const errorStatus = {
  ERR_NOT_FOUND: 404,
  ERR_INTERNAL: 500,
  ERR_FID_INVALID: 400,
  ERR_ADDRESS_MALFORMED: 400,
  ERR_PAYLOAD_INVALID: 400,
  ERR_METHOD_UNSUPPORTED: 400,
  ERR_ADDRESS_NOT_VERIFIED: 422,
  ERR_FID_MISMATCH: 422,
  ERR_SIG_INVALID: 400,
  ERR_SIG_EXPIRED: 400,
  ERR_NONCE_USED: 409,
  ERR_JFS_PAYLOAD_INVALID: 400,
  ERR_JFS_KEY_INACTIVE: 422,
  ERR_JFS_FID_MISMATCH: 422,
  ERR_MANIFEST_FETCH_FAILED: 422,
  ERR_MANIFEST_ADDRESS_UNVERIFIED: 422,
  ERR_RATE_LIMIT: 429,
  ERR_RATE_LIMIT_DAILY: 429,
  ERR_RATE_LIMITED: 429,
  ERR_RATE_LIMITER_UNAVAILABLE: 503,
} as const

export type ErrorCode = keyof typeof errorStatus

/** A failure the client is told about; anything else reaches it as ERR_INTERNAL. */
export class ApiError extends Error {
  override readonly name = 'ApiError'

  /** `fields` are specific to the code and sent next to `error` and `detail`. */
  constructor(
    readonly code: ErrorCode,
    readonly detail?: string,
    readonly fields: Record<string, unknown> = {},
    options?: ErrorOptions,
  ) {
    super(detail ? `${code}: ${detail}` : code, options)
  }

  get status(): number {
    return errorStatus[this.code]
  }

  /** The body of the answer. A 5xx carries no detail. */
  get body(): Record<string, unknown> {
    const detail = this.status >= 500 ? undefined : this.detail
    return { error: this.code, ...(detail === undefined ? {} : { detail }), ...this.fields }
  }
}

/** A request that HTTP itself, or the shape of what it carries, does not allow. */
export function invalidRequest(path: string, problem: string): ApiError {
  return new ApiError('ERR_PAYLOAD_INVALID', `${path} ${problem}`, { fields: [{ path, problem }] })
}
