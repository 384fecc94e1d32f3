import { sources } from '../../../config/sources.ts'
import type { Queryable } from '../../pool.ts'
import { addSubjects, askForSubjects } from '../sources/source-state.ts'
import { disputed, removes, testimonies } from '../sql/disputed-messages.ts'
import { isUntimed } from '../sql/verification-time.ts'

/** A change of custody on the chain. */
interface Transfer {
  readonly kind: 't' | 'r'
  readonly chain: string
  readonly block_number: number
  readonly log_index: number
  /** Lowercase hex with 0x. */
  readonly tx_hash: string
  /** Time of its block, as JSON. */
  readonly at: string
  /** Whether its block is at or below the final one. */
  readonly final: boolean
}

/** A standing claim, with the stored facts that decide whether it keeps standing. */
export interface StandingClaim {
  readonly method: string
  readonly nonce: string
  readonly state: 'live' | 'suspended'
  readonly signer: string
  readonly claimed_at: Date
  /** What linked the host to the FID; null: no link was asked for. */
  readonly host_link: string | null
  readonly proof: unknown
  /** The claim's newest event. */
  readonly seq: number
  readonly kind: string
  readonly evidence: unknown
  /** The first change of custody after the proof was made; null: there is none. */
  readonly transfer: Transfer | null
  /** The last change of custody, of whatever time; null: there is none. */
  readonly custody: Transfer | null
}

/** When a proof was made: never later than it was accepted, whatever time was signed. */
const provedAt = 'least(coalesce(c.signed_at, c.claimed_at), c.claimed_at)'

/** The first change of custody, as JSON, of those that the clauses after `where` leave. */
const changeOf = (clauses: string) => `(
        select json_build_object('kind', t.kind, 'chain', t.chain, 'block_number', t.block_number,
                                 'log_index', t.log_index, 'tx_hash', '0x' || encode(t.tx_hash, 'hex'),
                                 'at', t.block_timestamp,
                                 'final', coalesce(t.block_number <= s.finalized_block, false))
          from fid_custody t left join chain_state s using (chain)
         where t.fid = c.fid ${clauses}
         limit 1)`

/** The standing claims of a FID, oldest first. */
export async function standingClaims(db: Queryable, fid: number): Promise<StandingClaim[]> {
  const { rows } = await db.query<StandingClaim>({
    name: 'standing-claims',
    text: `
select c.method, c.nonce, c.state, c.signer, c.claimed_at, c.host_link, c.proof, e.seq, e.kind, e.evidence,
       ${changeOf(`and t.block_timestamp > ${provedAt} order by t.block_number, t.log_index`)} as transfer,
       ${changeOf('order by t.block_number desc, t.log_index desc')} as custody
  from claim c
 cross join lateral (
    select seq, kind, evidence from claim_event e
     where e.fid = c.fid and e.method = c.method and e.nonce = c.nonce order by seq desc limit 1) e
 where c.fid = $1 and c.state <> 'ended'
 order by c.claimed_at`,
    values: [fid],
  })
  return rows
}

/** What is stored about the verification of an address. */
interface StoredVerification {
  readonly live: boolean
  /** Whether the network dropped the message (pruned), without a removal signed by the account. */
  readonly pruned: boolean
  /** The live one's time, as JSON, and its message, null until it is seen; null: none is live, or its time is not known. */
  readonly made: {
    readonly at: string
    readonly message: unknown
    /** The key that signed it, 0x hex, when the registry had added that key and a reorg undid it; else null. */
    readonly undone_key: `0x${string}` | null
  } | null
  /** The message signed for the account that took it back, its hash in 0x hex; null: there is none. */
  readonly removal: { readonly hash: string; readonly message: unknown } | null
  /** The newest signed message that made it, of a contract wallet; null: a key signed. */
  readonly wallet_message: unknown
}

export async function storedVerification(db: Queryable, fid: number, address: string): Promise<StoredVerification> {
  const { rows } = await db.query<StoredVerification>({
    name: 'stored-verification',
    text: `
with last as (
  select * from verified_address where fid = $1 and address = $2 order by ended_at desc nulls first limit 1)
select coalesce((select ended_at is null from last), false) as live,
       coalesce((select pruned from last), false) as pruned,
       (select json_build_object('at', l.verified_at, 'message', m.message,
                                 'undone_key', case when k.source is null and not k.added_final
                                                    then '0x' || encode(k.key, 'hex') end)
          from last l left join farcaster_message m on m.fid = l.fid and m.hash = l.message_hash
          left join signer_key k on k.fid = m.fid and k.key = m.signer
         where l.ended_at is null and not ${isUntimed('l')}) as made,
       (select json_build_object('hash', '0x' || encode(m.hash, 'hex'), 'message', m.message) from farcaster_message m
         where ${removes('m', '$1', '$2', `coalesce((select verified_at from last), '-infinity')`)}
         order by m.message_time desc, m.hash limit 1) as removal,
       (select case when m.verification_type = 1 then m.message end from farcaster_message m
         where m.fid = $1 and m.address = $2 and m.type <> 'MESSAGE_TYPE_VERIFICATION_REMOVE'
         order by m.message_time desc, m.hash limit 1) as wallet_message`,
    values: [fid, Buffer.from(address.slice(2), 'hex')],
  })
  return rows[0] as StoredVerification
}

/** A verification that hubs disagree about. */
interface Dispute {
  readonly address: string
  /** Hash of its message, 0x hex. */
  readonly message: string
  /** Answers of the other hubs that were asked. */
  readonly hubs: readonly { readonly hub: string; readonly has: boolean; readonly checked_at: string }[]
}

/** Those of a FID's live verifications, or of these addresses alone, lowercase hex, that hubs disagree about. */
export async function disputesOf(db: Queryable, fid: number, addresses?: readonly string[]): Promise<Dispute[]> {
  const { rows } = await db.query<Dispute>({
    name: 'disputes-of',
    text: `
select '0x' || encode(v.address, 'hex') as address, '0x' || encode(v.message_hash, 'hex') as message,
       ${testimonies('v')} as hubs
  from verified_address v
 where v.fid = $1 and ($2::bytea[] is null or v.address = any ($2)) and v.ended_at is null and ${disputed('v')}
 order by v.address`,
    values: [fid, addresses?.map((address) => Buffer.from(address.slice(2), 'hex')) ?? null],
  })
  return rows
}

export interface CheckEvent {
  readonly fid: number
  readonly method: string
  readonly nonce: string
  /** The newest event of the claim that the check knew: nothing is written when there is a newer one. */
  readonly seq: number
  readonly kind: 'suspended' | 'resumed' | 'ended'
  readonly at: Date
  /** Canonical JSON. */
  readonly evidence: string
}

/** Stores the event that a check produced. Call under `lockClaims`. */
export async function storeCheckEvent(db: Queryable, event: CheckEvent): Promise<void> {
  const { fid, method, nonce, seq, kind, at, evidence } = event
  await db.query({
    name: 'store-check-event',
    text: `
insert into claim_event (fid, method, nonce, kind, at, evidence)
select fid, method, nonce, $5, $6, $7
  from claim
 where fid = $1 and method = $2 and nonce = $3 and state <> 'ended'
   and $4 = (select max(e.seq) from claim_event e where e.fid = $1 and e.method = $2 and e.nonce = $3)`,
    values: [fid, method, nonce, seq, kind, at, evidence],
  })
}

/** Stores the time at which all checks of an account's claims passed. */
export async function noteChecked(
  db: Queryable,
  fid: number,
  claims: readonly { readonly method: string; readonly nonce: string }[],
  at: Date,
): Promise<void> {
  await db.query({
    name: 'note-checked',
    text: `
update claim c set checked_at = $4
  from unnest($2::text[], $3::text[]) as held (method, nonce)
 where c.fid = $1 and c.method = held.method and c.nonce = held.nonce and c.state <> 'ended'`,
    values: [fid, claims.map(({ method }) => method), claims.map(({ nonce }) => nonce), at],
  })
}

/**
 * By how much later than a claim a change of custody from before it may be stored, for the claim to be checked at once:
 * then it may be the former owner's. One of a manifest waits for its turn, as its addresses may not be stored yet.
 */
const lateBy = `case c.method when 'well-known' then interval '0' else interval '1 day' end`

/** Asks for the checks of these FIDs' claims: now where what is stored speaks against one, else at their turn. */
export async function askForClaimChecks(db: Queryable, fids: readonly number[], now: Date): Promise<void> {
  const { rows } = await db.query<{ subject: string; doubtful: boolean; unplaced: boolean }>({
    name: 'claims-to-check',
    text: `
select 'fid:' || c.fid as subject,
       bool_or(c.state = 'suspended'
               or exists (select from fid_custody t
                           where t.fid = c.fid and t.block_timestamp > ${provedAt} - ${lateBy})
               or (c.method = 'eip191'
                   and not exists (select from verified_address v
                                    where v.fid = c.fid and v.address = decode(substr(c.signer, 3), 'hex')
                                      and v.ended_at is null))) as doubtful,
       exists (select from source_state s where s.source = $2 and s.subject = 'fid:' || c.fid)
       and (not exists (select from custody_reading r where r.fid = c.fid) or bool_or(c.method = 'jfs'
                  and not exists (select from signer_key k
                                   where k.fid = c.fid and k.key = decode(substr(c.signer, 3), 'hex')
                                     and k.checked_at is not null))) as unplaced
  from claim c
 where c.fid = any ($1::bigint[]) and c.state <> 'ended'
 group by c.fid
 order by c.fid`,
    values: [fids, sources.proofs.name],
  })
  if (rows.length === 0) return
  const { name, cadenceMs } = sources.claims
  const subjects = rows.map(({ subject }) => subject)
  await addSubjects(db, name, subjects, { priority: 0, dueAt: new Date(now.getTime() + cadenceMs.all) })
  const doubtful = rows.filter((row) => row.doubtful).map(({ subject }) => subject)
  if (doubtful.length > 0) await askForSubjects(db, name, doubtful, { priority: 2, dueAt: now })
  const unplaced = rows.filter((row) => row.unplaced).map(({ subject }) => subject)
  if (unplaced.length > 0) await askForSubjects(db, sources.proofs.name, unplaced, { priority: 1, dueAt: now })
}

/** Those of the FIDs that a claim of stands. */
export async function claimedAmong(db: Queryable, fids: readonly number[]): Promise<number[]> {
  const { rows } = await db.query<{ fid: number }>({
    name: 'claimed-among',
    text: `select distinct fid from claim where fid = any ($1::bigint[]) and state <> 'ended' order by fid`,
    values: [fids],
  })
  return rows.map(({ fid }) => fid)
}
