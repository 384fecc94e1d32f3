import { type Json, jsonSha256 } from './canonical-json.ts'

/** One thing that happened to a claim. Events of a FID are a chain: each carries the hash of the one before. */
interface ClaimEvent {
  /** Number of the event among those of its FID: 1, 2, 3 … */
  readonly seq: number
  readonly fid: number
  readonly method: string
  readonly nonce: string
  readonly kind: 'claimed' | 'suspended' | 'resumed' | 'ended'
  /** Time of the event: ISO 8601 with milliseconds and Z. */
  readonly at: string
  /** Evidence for the event: digest of a claim's proof, or reason of an end with its message, log or answers. */
  readonly evidence: Json
  /** `sha256` of the FID's previous event; null: this is the first. */
  readonly previous: string | null
}

export interface SealedClaimEvent extends ClaimEvent {
  /** SHA-256 of the canonical JSON of all other fields, lowercase hex. */
  readonly sha256: string
}

export function sealClaimEvent({
  seq,
  fid,
  method,
  nonce,
  kind,
  at,
  evidence,
  previous,
}: ClaimEvent): SealedClaimEvent {
  const event = { seq, fid, method, nonce, kind, at, evidence, previous }
  return { ...event, sha256: jsonSha256(event) }
}

/** Whether events are the whole chain of a FID from its first one, none changed, left out or put in. */
export function isClaimHistory(fid: number, events: readonly SealedClaimEvent[]): boolean {
  return events.every(
    (event, index) =>
      event.fid === fid &&
      event.seq === index + 1 &&
      event.previous === (events[index - 1]?.sha256 ?? null) &&
      event.sha256 === sealClaimEvent(event).sha256,
  )
}
