import type { Queryable } from '../../pool.ts'
import { hex, isoTime } from '../sql/json-text.ts'

/** A message about an address, as it was known when a claim was accepted. */
export interface ProvingMessage {
  readonly address: string
  /** As the hub gave it; null: there was none that could be kept. */
  readonly message: unknown
  readonly verdict: string | null
  readonly first_seen_at: string
  readonly before_custody: boolean
  /** What its contract wallet answered when it was asked last; null: it is none, or was not asked. */
  readonly wallet: {
    readonly block_number: number
    readonly block_hash: string
    readonly code_sha256: string | null
    readonly answer: string
  } | null
}

/** A key that signed, and where it stands. */
interface ProvingKey {
  /** Lowercase hex with 0x. */
  readonly key: string
  readonly source: 'chain' | 'offchain'
  readonly added: KeyLog | null
  /** The message that added it off the chain, as the hub gave it, and who signed for it. */
  readonly key_add: unknown
  readonly key_add_signer: string | null
}

interface KeyLog {
  readonly block_number: number
  readonly block_hash: string
  readonly tx_hash: string
  readonly log_index: number
  readonly request_fid: number | null
}

export interface ProvableClaim {
  readonly method: string
  readonly nonce: string
  readonly signer: string
  readonly proof: unknown
  readonly host_link: string | null
  readonly state: 'live' | 'suspended' | 'ended'
  readonly claimed_at: string
  readonly checked_at: string
  readonly ended_at: string | null
  readonly end_reason: string | null
  readonly addresses: readonly ProvingMessage[]
  readonly keys: readonly ProvingKey[]
  /** The last change of custody; null: there was none. */
  readonly custody: {
    readonly address: string
    readonly block_number: number
    readonly tx_hash: string
    readonly log_index: number
    readonly kind: string
  } | null
  /** Whose the FID was when its chain was asked last; null: it was not asked. */
  readonly custody_read: {
    readonly address: string
    readonly block_number: number
    readonly block_hash: string
  } | null
  /** Hubs that are asked, how they stood then, and messages of the FID that others have, or the followed one lacks. */
  readonly hubs: readonly {
    readonly url: string
    readonly witness: boolean
    readonly checked_at: string
    /** Why it was not believed; null: it was. */
    readonly doubt: string | null
    readonly has: readonly string[]
    readonly lacks: readonly string[]
  }[]
}

/**
 * Of the claims of a FID that were accepted up to a time: the newest that stands, else the newest. Undefined: there is
 * none, or the account has left the directory.
 */
export async function provableClaim(db: Queryable, fid: number, before: Date): Promise<ProvableClaim | undefined> {
  const { rows } = await db.query<{ claim: ProvableClaim }>({
    name: 'provable-claim',
    text: `
with provable as (
  select * from claim c
   where c.fid = $1 and c.claimed_at <= $2 and not exists (select from unlisted u where u.fid = c.fid)
   order by c.state <> 'ended' desc, c.claimed_at desc
   limit 1),
message as (
  select a.address, m.*
    from provable c
   cross join unnest(c.verified_addresses) as a (address)
    left join lateral (
      select m.fid, m.hash, m.message_time, m.signer, m.message, m.verdict, m.first_seen_at, m.claim as answer,
             m.wallet_block, m.wallet_block_hash, m.wallet_code_sha256
        from farcaster_message m
       where m.fid = c.fid and m.address = decode(substr(a.address, 3), 'hex')
         and m.type <> 'MESSAGE_TYPE_VERIFICATION_REMOVE' and m.message_time <= c.claimed_at
       order by m.message_time desc, m.hash limit 1) m on true)
select json_build_object(
  'method', c.method, 'nonce', c.nonce, 'signer', c.signer, 'proof', c.proof, 'host_link', c.host_link,
  'state', c.state, 'claimed_at', ${isoTime('c.claimed_at')},
  'checked_at', ${isoTime('coalesce(c.checked_at, c.claimed_at)')},
  'ended_at', ${isoTime('c.ended_at')}, 'end_reason', c.end_reason,
  'addresses', (
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
      from message m),
  'keys', (
    select coalesce(json_agg(json_build_object(
             'key', ${hex('k.key')}, 'source', k.source, 'added', k.added_log,
             'key_add', case when k.source = 'offchain' then k.key_add end,
             'key_add_signer', case when k.source = 'offchain' then ${hex('k.key_add_signer')} end) order by k.key), '[]')
      from signer_key k
     where k.fid = c.fid and k.source is not null
       and (k.key in (select signer from message)
            or (c.method = 'jfs' and k.key = decode(substr(c.signer, 3), 'hex')))),
  'custody', (
    select json_build_object('address', ${hex('t."to"')}, 'block_number', t.block_number, 'tx_hash', ${hex('t.tx_hash')},
                             'log_index', t.log_index,
                             'kind', case t.kind when 'r' then 'recovered' else 'transferred' end)
      from fid_custody t where t.fid = c.fid order by t.block_number desc, t.log_index desc limit 1),
  'custody_read', (
    select json_build_object('address', ${hex('r.address')}, 'block_number', r.block_number,
                             'block_hash', ${hex('r.block_hash')})
      from custody_reading r where r.fid = c.fid),
  'hubs', (
    select coalesce(json_agg(json_build_object(
             'url', h.url, 'witness', h.witness, 'checked_at', ${isoTime('h.checked_at')}, 'doubt', h.doubt,
             'has', ${told('h.url', 'w.has')}, 'lacks', ${told('h.url', 'not w.has')}) order by h.witness, h.url), '[]')
      from hub_standing h)) as claim
  from provable c`,
    values: [fid, before],
  })
  return rows[0]?.claim
}

/** Messages of the FID that a hub, the expression `url`, was asked about and that it has, or lacks. */
function told(url: string, condition: string): string {
  return `(select coalesce(json_agg(${hex('w.message_hash')} order by w.message_hash), '[]')
             from verification_witness w where w.fid = c.fid and w.url = ${url} and ${condition})`
}

/** An event as its hash has it. */
export interface StoredClaimEvent {
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
