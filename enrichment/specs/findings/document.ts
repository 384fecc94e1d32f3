import { answering } from '../../../db/queries/sql/uptime.ts'
import type { DoorReason } from '../../../net/errors.ts'
import type { SpecStatus } from '../check-status.ts'
import type { SpecKind } from '../kinds.ts'
import { type Finding, finding } from './finding.ts'

/** What is known of a document after a look at it. */
interface Looked {
  readonly kind: SpecKind
  readonly status: SpecStatus
  /** How what it describes answered; null: nobody has asked. */
  readonly answers: { readonly code: string } | null
  readonly httpStatus: number | null
  /** Why there was no answer that could be read; undefined: there was one. */
  readonly reason?: DoorReason | undefined
  readonly declared: boolean
  readonly backReference: string | null
  readonly cardSignature: string | null
}

/**
 * That nobody is there where a card leads; no other description names a request of which the right answer is known. Empty:
 * somebody is there, or was not asked.
 */
export function findingsOfAnswer(kind: SpecKind, answers: { readonly code: string } | null): Finding[] {
  const isCard = kind === 'a2a' || kind === 'mcp'
  return isCard && answers && ![...answering, 'not_asked'].includes(answers.code)
    ? [finding('not_answering', answers.code)]
    : []
}

/** What keeps others from a document: how the look ended, who lists it, whose signature it has. */
export function findingsOfDocument(looked: Looked): Finding[] {
  const { kind, status, answers, httpStatus, reason, declared, backReference, cardSignature } = looked
  const isSaid = status === 'ok' || status === 'payment_required'
  return [
    // Where nobody was told to look, it is no fault that nothing is there.
    ...(isSaid || !declared
      ? []
      : [finding(reason === 'encoded' ? reason : status, httpStatus === null ? undefined : `HTTP ${httpStatus}`)]),
    ...(status === 'ok' ? findingsOfAnswer(kind, answers) : []),
    ...(backReference === 'missing' ? [finding('unlisted')] : []),
    ...(backReference === 'contradicted' ? [finding('lists_others')] : []),
    ...(cardSignature === 'invalid' ? [finding('signature_broken')] : []),
  ]
}
