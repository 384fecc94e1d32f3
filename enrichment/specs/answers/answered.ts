import { isSameSite } from '../../../derive/site.ts'
import type { SpecStatus } from '../check-status.ts'
import type { SpecDetails } from '../content.ts'
import { specRequests } from '../spec-requests.ts'

/**
 * How what a document describes answered a harmless request in its own protocol. `not_asked`: it names no place, or
 * none that is asked: a template, one on another site, or one in a protocol that is not spoken here.
 */
export interface Answered {
  readonly code: SpecStatus | 'not_asked'
  /** Milliseconds to the answer; null: there was none. */
  readonly latencyMs: number | null
}

export type Interface = NonNullable<SpecDetails['interfaces']>[number]

/** Bytes of an answer that are read. */
const maxBytes = 64 * 1024
export const askOptions = { ...specRequests, maxBytes, redirects: 3, mayRedirect: isSameSite }
