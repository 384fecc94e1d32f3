interface ErrorKind {
  readonly status: number
  readonly title: string
  /** When it is given, as the end of a sentence; also a cell of the table in docs/rules.md 4. */
  readonly when: string
  /** no: the request has to change; later: the same may succeed in a while; retry-after: after the seconds it names. */
  readonly retry: 'no' | 'later' | 'retry-after'
}

/**
 * Every code a client can receive: a closed list. From it come the statuses of answers, openapi.json, GET /api/errors,
 * /docs/errors and the table in docs/rules.md 4. What a code carries besides is in api/schemas/error.ts.
 */
export const errorTable = {
  ERR_NOT_FOUND: {
    status: 404,
    title: 'Not found',
    when: 'no such FID, address or path',
    retry: 'no',
  },
  ERR_INTERNAL: {
    status: 500,
    title: 'Internal error',
    when: 'database, RPC or another service failed',
    retry: 'later',
  },
  ERR_FID_INVALID: {
    status: 400,
    title: 'Invalid FID',
    when: 'the FID is no positive integer',
    retry: 'no',
  },
  ERR_ADDRESS_MALFORMED: {
    status: 400,
    title: 'Malformed address',
    when: 'the address is not `0x` and 40 hex digits',
    retry: 'no',
  },
  ERR_PAYLOAD_INVALID: {
    status: 400,
    title: 'Invalid request',
    when: 'the body lacks a field or has a wrong shape',
    retry: 'no',
  },
  ERR_METHOD_UNSUPPORTED: {
    status: 400,
    title: 'Unknown claim method',
    when: 'the method is not eip191, jfs or well-known',
    retry: 'no',
  },
  ERR_ADDRESS_NOT_VERIFIED: {
    status: 422,
    title: 'Address not verified',
    when: 'the address is not verified for the FID',
    retry: 'no',
  },
  ERR_FID_MISMATCH: {
    status: 422,
    title: 'FIDs differ',
    when: 'header, body and proof name different FIDs',
    retry: 'no',
  },
  ERR_SIG_INVALID: {
    status: 400,
    title: 'Invalid signature',
    when: 'the signature is not the signer’s',
    retry: 'no',
  },
  ERR_SIG_EXPIRED: {
    status: 400,
    title: 'Signature out of its window',
    when: 'the signed time is outside the window',
    retry: 'no',
  },
  ERR_NONCE_USED: {
    status: 409,
    title: 'Nonce used',
    when: 'this FID, method and nonce were accepted before',
    retry: 'no',
  },
  ERR_JFS_PAYLOAD_INVALID: {
    status: 400,
    title: 'Invalid JSON Farcaster Signature',
    when: 'the JSON Farcaster Signature cannot be decoded, or is of another type',
    retry: 'no',
  },
  ERR_JFS_KEY_INACTIVE: {
    status: 422,
    title: 'Key not active',
    when: 'the key is no active app key of the FID',
    retry: 'no',
  },
  ERR_JFS_FID_MISMATCH: {
    status: 422,
    title: 'Signature of another FID',
    when: 'the JSON Farcaster Signature is of another FID',
    retry: 'no',
  },
  ERR_MANIFEST_FETCH_FAILED: {
    status: 422,
    title: 'Manifest not read',
    when: 'the manifest could not be read',
    retry: 'later',
  },
  ERR_MANIFEST_ADDRESS_UNVERIFIED: {
    status: 422,
    title: 'Manifest address not verified',
    when: 'an address of the manifest is not verified',
    retry: 'no',
  },
  ERR_RATE_LIMIT: {
    status: 429,
    title: 'Minute limit reached',
    when: 'the requests of the minute are used up',
    retry: 'retry-after',
  },
  ERR_RATE_LIMIT_DAILY: {
    status: 429,
    title: 'Daily limit reached',
    when: 'the requests of the UTC day are used up',
    retry: 'retry-after',
  },
  ERR_RATE_LIMITED: {
    status: 429,
    title: 'Too many attempts',
    when: 'too many attempts to claim or to refresh, messages to webhooks, or streams, files or cards at once',
    retry: 'retry-after',
  },
  ERR_RATE_LIMITER_UNAVAILABLE: {
    status: 503,
    title: 'Rate limiter unavailable',
    when: 'the store of the rate limiter is out of reach; try again shortly',
    retry: 'retry-after',
  },
} as const satisfies Record<string, ErrorKind>

export type ErrorCode = keyof typeof errorTable

/** A failure that the client is told about; any other reaches it as ERR_INTERNAL. */
export class ApiError extends Error {
  override readonly name = 'ApiError'

  /** `fields` are specific to the code and sent next to `error` and `detail`. */
  constructor(
    readonly code: ErrorCode,
    readonly detail?: string,
    readonly fields: Record<string, unknown> = {},
    options?: ErrorOptions,
  ) {
    const { stackTraceLimit } = Error
    // Nobody needs the stack of a refusal, and capturing it takes longer than the answer.
    if (errorTable[code].status < 500) Error.stackTraceLimit = 0
    super(detail ? `${code}: ${detail}` : code, options)
    Error.stackTraceLimit = stackTraceLimit
  }

  get status(): number {
    return errorTable[this.code].status
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
