import type { DoorReason } from '../../../net/errors.ts'
import type { SpecStatus } from '../check-status.ts'
import { type Finding, finding } from './finding.ts'

/** What is known of a document after a look at it. */
interface Looked {
  readonly status: SpecStatus
  readonly httpStatus: number | null
  /** Why there was no answer that could be read; undefined: there was one. */
  readonly reason?: DoorReason | undefined
  readonly declared: boolean
  readonly backReference: string | null
  readonly cardSignature: string | null
}

/** What keeps others from a document: how the look ended, who lists it, whose signature it has. */
export function findingsOfDocument(looked: Looked): Finding[] {
  const { status, httpStatus, reason, declared, backReference, cardSignature } = looked
  const isSaid = status === 'ok' || status === 'payment_required'
  return [
    // Where nobody was told to look, it is no fault that nothing is there.
    ...(isSaid || !declared
      ? []
      : [finding(reason === 'encoded' ? reason : status, httpStatus === null ? undefined : `HTTP ${httpStatus}`)]),
    ...(backReference === 'missing' ? [finding('unlisted')] : []),
    ...(backReference === 'contradicted' ? [finding('lists_others')] : []),
    ...(cardSignature === 'invalid' ? [finding('signature_broken')] : []),
  ]
}
