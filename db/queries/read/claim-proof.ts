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
  /** Whether the KeyRegistry has, or had, its key for the FID. */
  readonly key_on_chain: boolean
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
  readonly custody: {
    readonly address: string
    readonly block_number: number
    readonly tx_hash: string
    readonly log_index: number
    readonly kind: string
  } | null
  /** Hubs that are asked, and when they last said how they stand. */
  readonly hubs: readonly { readonly url: string; readonly checked_at: string }[]
}

/**
 * Of the claims of a FID that were accepted up to a time: the newest that stands, else the newest. Undefined: there is
 * none, or the account has left the directory.
 */
export async function provableClaim(db: Queryable, fid: number, before: Date): Promise<ProvableClaim | undefined> {
  const { rows } = await db.query<{ claim: ProvableClaim }>({
    name: 'provable-claim',
    text: `
select json_build_object(
  'method', c.method, 'nonce', c.nonce, 'signer', c.signer, 'proof', c.proof, 'host_link', c.host_link,
  'state', c.state, 'claimed_at', ${isoTime('c.claimed_at')},
  'checked_at', ${isoTime('coalesce(c.checked_at, c.claimed_at)')},
  'ended_at', ${isoTime('c.ended_at')}, 'end_reason', c.end_reason,
  'addresses', (
    select coalesce(json_agg(json_build_object(
             'address', a.address, 'message', m.message, 'verdict', m.verdict,
             'first_seen_at', ${isoTime('coalesce(m.first_seen_at, c.claimed_at)')},
             'before_custody', exists (select from fid_custody t
                                        where t.fid = c.fid and t.block_timestamp >= m.message_time
                                          and t.block_timestamp < c.claimed_at),
             'key_on_chain', coalesce(k.source = 'chain', false)) order by a.address), '[]')
      from unnest(c.verified_addresses) as a (address)
      left join lateral (
        select * from farcaster_message m
         where m.fid = c.fid and m.address = decode(substr(a.address, 3), 'hex')
           and m.type <> 'MESSAGE_TYPE_VERIFICATION_REMOVE' and m.message_time <= c.claimed_at
         order by m.message_time desc, m.hash limit 1) m on true
      left join signer_key k on k.fid = c.fid and k.key = m.signer),
  'custody', (
    select json_build_object('address', ${hex('t."to"')}, 'block_number', t.block_number, 'tx_hash', ${hex('t.tx_hash')},
                             'log_index', t.log_index,
                             'kind', case t.kind when 'r' then 'recovered' else 'transferred' end)
      from fid_custody t where t.fid = c.fid order by t.block_number desc, t.log_index desc limit 1),
  'hubs', (select coalesce(json_agg(json_build_object('url', url, 'checked_at', ${isoTime('checked_at')}) order by url), '[]')
             from hub_standing where doubt is null)) as claim
  from claim c
 where c.fid = $1 and c.claimed_at <= $2 and not exists (select from unlisted u where u.fid = c.fid)
 order by c.state <> 'ended' desc, c.claimed_at desc
 limit 1`,
    values: [fid, before],
  })
  return rows[0]?.claim
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
