import type { Queryable } from '../../pool.ts'
import { isoTime } from '../sql/json-text.ts'

/** An event as its hash has it. */
interface StoredClaimEvent {
  readonly seq: number
  readonly fid: number
  readonly method: string
  readonly nonce: string
  readonly kind: 'claimed' | 'suspended' | 'resumed' | 'ended'
  readonly at: string
  readonly evidence: unknown
  /** Lowercase hex. */
  readonly previous: string | null
  readonly sha256: string
}

/** All that became of a FID's claims, oldest first. */
export async function claimHistory(db: Queryable, fid: number): Promise<StoredClaimEvent[]> {
  const { rows } = await db.query<StoredClaimEvent>({
    name: 'claim-history',
    text: `select seq, fid, method, nonce, kind, ${isoTime('at')} as at, evidence, encode(previous, 'hex') as previous,
                  encode(sha256, 'hex') as sha256
             from claim_event where fid = $1 order by seq`,
    values: [fid],
  })
  return rows
}
