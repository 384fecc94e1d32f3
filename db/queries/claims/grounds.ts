import type { Queryable } from '../../pool.ts'
import { keyFactsOf } from '../sources/signer-keys.ts'
import { isTakenBack } from '../verifications/verified-addresses.ts'

/** What is stored that decides whether a message of an account supports a claim. */
export function groundFacts(db: Queryable) {
  return {
    lastCustodyChange: (fid: number) => lastCustodyChange(db, fid),
    isTakenBack: (fid: number, address: string, verifiedAt: Date) => isTakenBack(db, fid, address, verifiedAt),
    keyFactsOf: (of: Parameters<typeof keyFactsOf>[1]) => keyFactsOf(db, of),
  }
}

/** A live verification as it is stored. */
interface LiveGround {
  /** Lowercase hex with 0x. */
  readonly address: string
  /** 1970: nobody has said when, so it may be from before anything else. */
  readonly verifiedAt: Date
  /** The signed message as a hub gave it; null: none is stored. */
  readonly message: unknown
}

/** The live verifications of a FID, with the messages they rest on. */
export async function liveGroundsOf(db: Queryable, fid: number): Promise<LiveGround[]> {
  const { rows } = await db.query<LiveGround>({
    name: 'live-grounds-of',
    text: `
select '0x' || encode(v.address, 'hex') as address, greatest(v.verified_at, 'epoch') as "verifiedAt", m.message
  from verified_address v
  left join farcaster_message m on m.fid = v.fid and m.hash = v.message_hash
 where v.fid = $1 and v.ended_at is null
 order by v.address, v.verified_at`,
    values: [fid],
  })
  return rows
}

interface CustodyChange {
  readonly at: Date
  readonly block: number
  /** t: given away; r: recovered. */
  readonly kind: 't' | 'r'
}

/** The last time a FID changed hands; undefined: never since it was registered. */
export async function lastCustodyChange(db: Queryable, fid: number): Promise<CustodyChange | undefined> {
  const { rows } = await db.query<CustodyChange>({
    name: 'last-custody-change',
    text: `select block_timestamp as at, block_number as block, kind
             from fid_custody
            where fid = $1
            order by block_number desc, log_index desc
            limit 1`,
    values: [fid],
  })
  return rows[0]
}
