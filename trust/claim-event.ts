import { canonicalJson, type Json, jsonSha256 } from './canonical-json.ts'

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
  return isInOrder(fid, events) && (events.at(-1)?.seq ?? 0) === events.length
}

/** How many events a proof shows: the newest ones of the FID's claims. */
export const proofEvents = 100

/**
 * Whether events are what a proof shows of a FID's claims: all of them, or of a longer history the newest, at least
 * `proofEvents`, and before those the first and the last event of the claim itself where they are older.
 */
export function isProofHistory(
  { fid, method, nonce }: Pick<ClaimEvent, 'fid' | 'method' | 'nonce'>,
  events: readonly SealedClaimEvent[],
): boolean {
  if (isClaimHistory(fid, events)) return true
  const newest = events.findLastIndex(({ seq }, index) => seq !== (events[index - 1]?.seq ?? 0) + 1)
  const older = events.slice(0, newest)
  const isOwn = older.length <= 2 && older.every((event) => event.method === method && event.nonce === nonce)
  return isInOrder(fid, events) && isOwn && events.length - newest >= proofEvents
}

/** Whether events are of a FID, unchanged and in their order, though some may be left out between them. */
function isInOrder(fid: number, events: readonly SealedClaimEvent[]): boolean {
  return events.every((event, index) => {
    const before = events[index - 1]
    const isNext = before ? event.seq === before.seq + 1 : event.seq === 1
    const follows = isNext ? event.previous === (before?.sha256 ?? null) : event.seq > (before?.seq ?? 1)
    return event.fid === fid && follows && event.sha256 === sealClaimEvent(event).sha256
  })
}

/**
 * Entry of the transparency log for an event of a claim: docs/log.md.
 *
 * `proof` is the SHA-256 by which the events name what was signed to claim.
 */
export function claimEntry(
  { fid, at, kind, seq, sha256 }: Pick<SealedClaimEvent, 'fid' | 'at' | 'kind' | 'seq' | 'sha256'>,
  proof: string,
): Buffer {
  return Buffer.from(canonicalJson({ type: 'claim', fid, at, event: kind, seq, digest: sha256, proof }))
}
