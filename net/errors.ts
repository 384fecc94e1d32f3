/**
 * Every way a request through the door can fail, and the word of `last_check_status` (docs/rules.md 3) it becomes.
 * Null: nobody was asked, so there is nothing to record about the host.
 */
const checkStatusOf = {
  /** The egress rules forbid the URL: by its text, or by what its name resolves to. */
  blocked: 'blocked',
  /** The name has no address, or the name servers gave no answer. */
  dns_error: 'dns_error',
  /** No TCP connection to any of the name's addresses. */
  connect_error: 'connect_error',
  /** TCP connected, TLS failed: handshake, certificate, or a certificate for another name. */
  tls_error: 'tls_error',
  /** The deadline passed before the whole answer was read. */
  timeout: 'timeout',
  /** Head or body above its cap. */
  too_large: 'too_large',
  /** One redirect too many, or one whose target is missing or forbidden by the door or the caller. */
  redirect_refused: 'redirect_refused',
  /** Not HTTP, or cut off: the connection ended before the answer did. */
  broken_answer: 'connect_error',
  /** A compressed body, although none was asked for: it is never inflated. */
  encoded: 'not_json',
  /** The body is not a JSON text within the limits of json.ts. */
  not_json: 'not_json',
  /** Our own queue for this host is full, or the wait in it was too long. */
  busy: null,
  /** The door was closed. */
  closed: null,
} as const

export type DoorReason = keyof typeof checkStatusOf
export type CheckStatus = NonNullable<(typeof checkStatusOf)[DoorReason]>

/**
 * The only error a request through the door ends with, apart from a TypeError for arguments no caller may pass.
 * The message is for operators' logs: shown to whoever named the address it would tell which of our neighbours exist.
 */
export class DoorError extends Error {
  override readonly name = 'DoorError'
  /** Whether the host had sent the head of its answer: then it answers, and the failure is this page's. */
  readonly isAfterHead: boolean

  constructor(
    readonly reason: DoorReason,
    message: string,
    options: ErrorOptions & { readonly isAfterHead?: boolean } = {},
  ) {
    super(message, options)
    this.isAfterHead = options.isAfterHead ?? false
  }

  /** The same failure, when the head of an answer had arrived. */
  afterHead(): DoorError {
    return new DoorError(this.reason, this.message, { cause: this.cause, isAfterHead: true })
  }

  get checkStatus(): CheckStatus | null {
    return checkStatusOf[this.reason]
  }
}
