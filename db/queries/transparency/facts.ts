import type { SealedClaimEvent } from '../../../trust/claim-event.ts'
import type { Queryable } from '../../pool.ts'
import { isoTime } from '../sql/json-text.ts'
import { subjectIn } from './epoch.ts'

/** Something that the transparency log is to have; digests are lowercase hex. */
export type LoggedFact = ClaimFact | ListingFact

interface Fact {
  /** Key of the fact: db/due/kinds.ts. */
  readonly subject: string
  readonly fid: number
  /** ISO time. */
  readonly at: string
  /** SHA-256 of the proof as received. */
  readonly proof: string
}

/** An event of a claim. */
interface ClaimFact extends Fact {
  readonly type: 'claim'
  readonly kind: SealedClaimEvent['kind']
  /** Number among the events of the FID's claims: 1, 2, 3 … */
  readonly seq: number
  /** SHA-256 of the event, which is that of all events of the FID before it too. */
  readonly sha256: string
}

/** An account's word on whether it wants to be listed. */
interface ListingFact extends Fact {
  readonly type: 'unlist' | 'relist'
}

/** Those of some facts that a log does not have yet, in the order of their times. */
export async function factsToLog(db: Queryable, subjects: readonly string[], epoch: number): Promise<LoggedFact[]> {
  const { rows } = await db.query<LoggedFact>({
    name: 'facts-to-log',
    text: `
with wanted as (
  select subject, string_to_array(subject, ':') as part
    from unnest($1::text[]) as wanted (subject)
   where not exists (select from transparency_entry t where t.subject = $2 || wanted.subject))
select w.subject, 'claim' as type, e.fid, ${isoTime('e.at')} as at, e.kind, e.seq, encode(e.sha256, 'hex') as sha256,
       encode(c.proof_sha256, 'hex') as proof
  from wanted w
  join claim_event e on e.fid = w.part[2]::bigint and e.seq = w.part[3]::int
  join claim c on c.fid = e.fid and c.method = e.method and c.nonce = e.nonce
 where w.part[1] = 'claim'
 union all
select w.subject, a.action, a.fid, ${isoTime('a.accepted_at')}, null, null, null, encode(a.proof_sha256, 'hex')
  from wanted w
  join claim_action a on a.fid = w.part[3]::bigint and a.action = w.part[2] and a.method = w.part[4] and a.nonce = w.part[5]
 where w.part[1] = 'listing'
 order by at, fid, seq, subject`,
    values: [subjects, subjectIn(epoch, '')],
  })
  return rows
}
