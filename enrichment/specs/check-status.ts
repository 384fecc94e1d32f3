import type { CheckStatus } from '../../net/errors.ts'
import type { Candidate } from './candidates.ts'

/** Values of `last_check_status` (docs/rules.md 3). */
export type SpecStatus =
  | CheckStatus
  | 'ok'
  | 'auth_required'
  | 'payment_required'
  | 'not_found'
  | 'http_4xx'
  | 'http_5xx'
  | 'schema_mismatch'

/** Check status that an HTTP status determines by itself; undefined: it depends on the body. */
export function statusOf(httpStatus: number): SpecStatus | undefined {
  if (httpStatus === 401) return 'auth_required'
  if (httpStatus === 402) return 'payment_required'
  if (httpStatus === 404 || httpStatus === 410) return 'not_found'
  if (httpStatus >= 500) return 'http_5xx'
  return httpStatus < 200 || httpStatus >= 300 ? 'http_4xx' : undefined
}

/** Whether a check is a sign of life: a document, or at a declared place a demand for payment or authentication. */
export function isSignOfLife(check: {
  readonly candidate: Pick<Candidate, 'declared'>
  readonly status: SpecStatus
}): boolean {
  const { candidate, status } = check
  return status === 'ok' || (candidate.declared && (status === 'auth_required' || status === 'payment_required'))
}

/** Whether a status says that the host could not be reached. */
export function isOutOfReach(status: SpecStatus): boolean {
  return ['timeout', 'dns_error', 'tls_error', 'connect_error', 'blocked'].includes(status)
}

/**
 * Whether an error is one of the language, which a reader ran into with what a host wrote. It is a fault of the reader, but
 * what it cannot read must not keep the rest of the agent's places from being looked at.
 */
export const isOfContent = (error: unknown): error is Error =>
  error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError
