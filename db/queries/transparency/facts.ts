import type { Json } from '../../../trust/canonical-json.ts'
import type { SealedClaimEvent } from '../../../trust/claim-event.ts'
import { kinds } from '../../due/kinds.ts'
import type { Queryable } from '../../pool.ts'
import { hexSum, loadedByShards } from '../log/coverage.ts'
import { hostOf } from '../sql/disputed-messages.ts'
import { hex, isoTime } from '../sql/json-text.ts'
import { subjectIn } from './epoch.ts'

/** Something that the transparency log is to have. */
export interface LoggedFact {
  /** Key of the fact: db/due/kinds.ts. */
  readonly subject: string
  /** An event of a claim, with the SHA-256 of the proof as received, in hex. Null: another fact. */
  readonly claim: (Pick<SealedClaimEvent, 'fid' | 'at' | 'kind' | 'seq' | 'sha256'> & { readonly proof: string }) | null
  /** What the entry of another fact says. Null: an event of a claim. */
  readonly said: Json
}

const [, , , audited, followed] = kinds['logged facts'].all

/** What the entry of a certificate says: columns of its row, and sums that may not fit into a number of JavaScript. */
const certificate = (by: 'backfill' | 'audit', c: string, sums: string, certifiedAt: string) => `
         json_build_object('type', 'certificate', 'by', '${by}', 'chain', ${c}.chain, 'from_block', ${c}.from_block,
                           'to_block', ${c}.to_block, 'settlements', ${sums}.settlements::text, 'amount', ${sums}.amount::text,
                           'checksum', ${hexSum(`${sums}.checksum`)}, 'payments', ${sums}.payments::text,
                           'payment_checksum', ${hexSum(`${sums}.payment_checksum`)}, 'first_hash', ${hex(`${sums}.first_hash`)},
                           'last_hash', ${hex(`${sums}.last_hash`)}, 'at', ${isoTime(certifiedAt)})`

/** Those of some facts that a log does not have yet, in the order of their times. One that is no longer so is left out. */
export async function factsToLog(db: Queryable, subjects: readonly string[], epoch: number): Promise<LoggedFact[]> {
  const { rows } = await db.query<LoggedFact>({
    name: 'facts-to-log',
    text: `
with wanted as materialized (
  select subject, string_to_array(subject, ':') as part
    from unnest($1::text[]) as wanted (subject)
   where not exists (select from transparency_entry t where t.subject = $2 || wanted.subject)),
fact as (
  select w.subject, e.at, e.fid, e.seq,
         json_build_object('fid', e.fid, 'at', ${isoTime('e.at')}, 'kind', e.kind, 'seq', e.seq,
                           'sha256', encode(e.sha256, 'hex'), 'proof', encode(c.proof_sha256, 'hex')) as claim,
         null::json as said
    from wanted w
    join claim_event e on e.fid = w.part[2]::bigint and e.seq = w.part[3]::int
    join claim c on c.fid = e.fid and c.method = e.method and c.nonce = e.nonce
   where w.part[1] = 'claim'
   union all
  select w.subject, a.accepted_at, a.fid, null, null,
         json_build_object('type', a.action, 'fid', a.fid, 'at', ${isoTime('a.accepted_at')},
                           'proof', encode(a.proof_sha256, 'hex'))
    from wanted w
    join claim_action a on a.fid = w.part[3]::bigint and a.action = w.part[2] and a.method = w.part[4] and a.nonce = w.part[5]
   where w.part[1] = 'listing'
   union all
  select w.subject, c.changed_at, c.fid, c.seq, null,
         json_build_object('type', 'change', 'seq', c.seq, 'fid', c.fid, 'kind', c.kind, 'at', ${isoTime('c.changed_at')},
                           'digest', encode(c.sha256, 'hex'))
    from wanted w
    join agent_change c on c.seq = w.part[2]::bigint
   where w.part[1] = 'change'
   union all
  select w.subject, b.completed_at, null, null, null,${certificate('backfill', 'b', 'loaded', 'b.completed_at')}
    from wanted w
    join backfill b on b.id = w.part[2]::int and b.completed_at is not null
   cross join lateral (${loadedByShards}) loaded
   where w.part[1] = 'backfill'
   union all
  select w.subject, a.audited_at, null, null, null,${certificate('audit', 'a', 'a', 'a.audited_at')}
    from wanted w
    join audit_certificate a on a.chain = w.part[2] and a.from_block = w.part[3]::int and ${audited.key} = w.subject
   where w.part[1] = 'audit'
   union all
  select w.subject, h.followed_since, null, null, null,
         json_build_object('type', 'hub', 'host', ${hostOf('h.url')}, 'at', ${isoTime('h.followed_since')})
    from wanted w
    join hub_standing h on h.followed_since is not null and ${followed.key} = w.subject
   where w.part[1] = 'hub')
select subject, claim, said from fact order by at, fid, seq, subject`,
    values: [subjects, subjectIn(epoch, '')],
  })
  return rows
}
