import { proofEvents, type SealedClaimEvent } from '../../../trust/claim-event.ts'
import type { ProvableClaim } from '../../../trust/proof/provable.ts'
import type { Queryable } from '../../pool.ts'
import { hex, isoTime } from '../sql/json-text.ts'

/**
 * Of the claims of each FID that were accepted, and signed, up to a time: the newest that stands, else the
 * newest. None of an account without such a claim, or one that has left the directory.
 */
export async function provableClaims(db: Queryable, fids: readonly number[], before: Date): Promise<ProvableClaim[]> {
  const { rows } = await db.query<{ claim: ProvableClaim }>({
    name: 'provable-claims',
    text: `
with provable as (
  select distinct on (c.fid) c.* from claim c
   where c.fid = any ($1::bigint[]) and ${isPublic('c.claimed_at', 'c.signed_at')} and not exists (select from unlisted u where u.fid = c.fid)
   order by c.fid, c.state <> 'ended' desc, c.claimed_at desc, c.method, c.nonce),
message as (
  select c.fid as of, a.address, m.*
    from provable c
   cross join unnest(c.verified_addresses) as a (address)
    left join lateral (
      select m.message_time, m.signer, m.message, m.verdict, m.first_seen_at, m.claim as answer,
             m.wallet_block, m.wallet_block_hash, m.wallet_code_sha256
        from farcaster_message m
       where m.fid = c.fid and m.address = decode(substr(a.address, 3), 'hex')
         and m.type <> 'MESSAGE_TYPE_VERIFICATION_REMOVE' and m.message_time <= c.claimed_at
       order by m.message_time desc, m.hash limit 1) m on true)
select json_build_object(
  'fid', c.fid, 'method', c.method, 'nonce', c.nonce, 'signer', c.signer, 'proof', c.proof, 'host_link', c.host_link,
  'host_link_evidence', c.host_link_evidence,
  'state', c.state, 'claimed_at', ${isoTime('c.claimed_at')},
  'checked_at', ${isoTime('coalesce(c.checked_at, c.claimed_at)')},
  'ended_at', ${isoTime('c.ended_at')}, 'end_reason', c.end_reason,
  'withdrawal', ${withdrawal},
  'addresses', ${addresses},
  'keys', ${keys},
  'custody', (
    select json_build_object('address', ${hex('t."to"')}, 'block_number', t.block_number, 'tx_hash', ${hex('t.tx_hash')},
                             'log_index', t.log_index,
                             'kind', case t.kind when 'r' then 'recovered' else 'transferred' end)
      from fid_custody t where t.fid = c.fid order by t.block_number desc, t.log_index desc limit 1),
  'custody_read', (
    select json_build_object('address', ${hex('r.address')}, 'block_number', r.block_number,
                             'block_hash', ${hex('r.block_hash')})
      from custody_reading r where r.fid = c.fid),
  'hubs', ${hubs}) as claim
  from provable c`,
    values: [fids, before],
  })
  return rows.map(({ claim }) => claim)
}

/** The request that ended it, if its owner withdrew it. */
const withdrawal = `(
    select json_build_object('method', w.method, 'signer', w.signer, 'proof', w.proof,
                             'accepted_at', ${isoTime('w.accepted_at')})
      from claim_event e
      join claim_action w on w.fid = e.fid and w.action = 'withdraw' and w.method = e.evidence ->> 'method'
                         and w.nonce = e.evidence ->> 'nonce'
     where e.fid = c.fid and e.method = c.method and e.nonce = c.nonce and e.kind = 'ended'
       and ${isPublic('w.accepted_at', 'w.signed_at')})`

/** The addresses that it names, with the messages that verified them. */
const addresses = `(
    select coalesce(json_agg(json_build_object(
             'address', m.address, 'message', m.message, 'verdict', m.verdict,
             'first_seen_at', ${isoTime('coalesce(m.first_seen_at, c.claimed_at)')},
             'before_custody', exists (select from fid_custody t
                                        where t.fid = c.fid and t.block_timestamp >= m.message_time
                                          and t.block_timestamp < c.claimed_at),
             'wallet', case when m.wallet_block is not null then
               json_build_object('block_number', m.wallet_block, 'block_hash', ${hex('m.wallet_block_hash')},
                                 'code_sha256', ${hex('m.wallet_code_sha256')}, 'answer', m.answer) end)
             order by m.address), '[]')
      from message m where m.of = c.fid)`

/** Keys that signed what it rests on. */
const keys = `(
    select coalesce(json_agg(json_build_object(
             'key', ${hex('k.key')}, 'source', k.source, 'added', k.added_log,
             'key_add', case when k.source = 'offchain' then k.key_add end,
             'key_add_signer', case when k.source = 'offchain' then ${hex('k.key_add_signer')} end,
             'key_remove', case when k.source = 'offchain' then k.key_remove end,
             'key_remove_signer', case when k.source = 'offchain' then ${hex('k.key_remove_signer')} end,
             'removed', coalesce(k.removed, false), 'removed_log', k.removed_log) order by k.key), '[]')
      from signer_key k
     where k.fid = c.fid and k.source is not null
       and (k.key in (select m.signer from message m where m.of = c.fid)
            or k.key = decode(substr(c.host_link_evidence #>> '{message,signer}', 3), 'hex')
            or (c.method = 'jfs' and k.key = decode(substr(c.signer, 3), 'hex'))))`

/** What each hub has of its messages. */
const hubs = `(
    select coalesce(json_agg(json_build_object(
             'url', h.url, 'witness', h.witness, 'checked_at', ${isoTime('h.checked_at')}, 'doubt', h.doubt,
             'has', ${told('h.url', 'w.has')}, 'lacks', ${told('h.url', 'not w.has')}) order by h.witness, h.url), '[]')
      from hub_standing h)`

/** Whether the window in which other services might take what was signed had passed at the time $2. */
function isPublic(receivedAt: string, signedAt: string): string {
  return `greatest(${receivedAt}, ${signedAt}) <= $2`
}

/** Messages of the FID that a hub, the expression `url`, was asked about and that it has, or lacks. */
function told(url: string, condition: string): string {
  return `(select coalesce(json_agg(${hex('w.message_hash')} order by w.message_hash), '[]')
             from verification_witness w where w.fid = c.fid and w.url = ${url} and ${condition})`
}

const event = `seq, fid, method, nonce, kind, ${isoTime('at')} as at, evidence, encode(previous, 'hex') as previous,
       encode(sha256, 'hex') as sha256`

/** Events of a FID's claims after a number, the oldest first. */
export async function claimHistory(
  db: Queryable,
  fid: number,
  { after = '0', limit = null }: { readonly after?: string; readonly limit?: number | null } = {},
): Promise<SealedClaimEvent[]> {
  const { rows } = await db.query<SealedClaimEvent>({
    name: 'claim-history',
    text: `select ${event} from claim_event where fid = $1 and seq > $2::bigint order by seq limit $3`,
    values: [fid, after, limit],
  })
  return rows
}

/** The same of an account that is in the directory; none of one that has left it. */
export async function shownHistory(
  db: Queryable,
  fid: number,
  page: { readonly after: string; readonly limit: number },
): Promise<SealedClaimEvent[]> {
  const { rows } = await db.query({ name: 'is-unlisted', text: 'select from unlisted where fid = $1', values: [fid] })
  return rows.length > 0 ? [] : claimHistory(db, fid, page)
}

/** The events that the proof of a claim shows, the oldest first: see `isProofHistory`. */
export async function proofHistory(
  db: Queryable,
  { fid, method, nonce }: { readonly fid: number; readonly method: string; readonly nonce: string },
): Promise<SealedClaimEvent[]> {
  const own = (order: string) =>
    `select seq from claim_event where fid = $1 and method = $2 and nonce = $3 order by seq ${order} limit 1`
  const { rows } = await db.query<SealedClaimEvent>({
    name: 'proof-history',
    text: `
select ${event} from claim_event
 where fid = $1
   and seq in ((${own('asc')}) union (${own('desc')})
               union (select seq from claim_event where fid = $1 order by seq desc limit ${proofEvents}))
 order by seq`,
    values: [fid, method, nonce],
  })
  return rows
}
