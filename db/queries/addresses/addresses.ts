import type { Queryable } from '../../pool.ts'
import { disputed, testimonies } from '../sql/disputed-messages.ts'
import { hex, isoTime } from '../sql/json-text.ts'
import { beforeCustody, saidAt } from '../sql/verification-time.ts'

/** A verified address of an agent, and what its verification rests on. */
interface AddressRow {
  readonly address: string
  /** Whether chains here may have anything of it; false: it is one of Solana, in base58. */
  readonly indexed: boolean
  /** Null: nobody has said when. */
  readonly verified_at: string | null
  /** proven, signed or stated; null: its message was not seen yet. */
  readonly verdict: string | null
  readonly checks: { readonly envelope: string; readonly claim: string; readonly key: string } | null
  /** Time at which its key or contract wallet was checked on the chains; null: never. */
  readonly checked_at: string | null
  readonly first_seen_at: string | null
  readonly message_hash: string | null
  /** 0: a key; 1: a contract wallet on `verification_chain_id`. */
  readonly verification_type: number | null
  readonly verification_chain_id: number | null
  /** other: it is a contract wallet that holds registrations on other chains than its own. */
  readonly wallet_chain: 'other' | null
  readonly key: string | null
  readonly key_source: string | null
  readonly before_custody: boolean
  readonly disputed: boolean
  /** Whether other hubs have its message, by host. */
  readonly witnesses: readonly { readonly hub: string; readonly has: boolean; readonly checked_at: string }[]
}

/**
 * The live verified addresses of an account of the index, sorted by address, those of Solana last. Undefined: it is not in
 * the index.
 */
export async function agentAddresses(db: Queryable, fid: number): Promise<AddressRow[] | undefined> {
  const { rows } = await db.query<{ addresses: AddressRow[]; others: AddressRow[] | null }>({
    name: 'agent-addresses',
    text: `
select coalesce((
  select json_agg(json_build_object(
           'address', ${hex('v.address')}, 'indexed', true,
           'verified_at', ${isoTime(saidAt('v'))},
           'verdict', v.verdict,
           'checks', case when m.hash is not null then
             json_build_object('envelope', m.envelope, 'claim', m.claim, 'key', coalesce(m.key, 'unknown')) end,
           'checked_at', ${isoTime('m.checked_at')},
           'first_seen_at', ${isoTime('m.first_seen_at')},
           'message_hash', ${hex('m.hash')},
           'verification_type', m.verification_type,
           'verification_chain_id', m.verification_chain,
           'wallet_chain', (select h.wallet_chain from agent_holding h
                             where h.fid = v.fid and h.held_by = v.address and h.wallet_chain is not null
                               and h.reason is null limit 1),
           'key', ${hex('m.signer')},
           'key_source', k.source,
           'before_custody', ${beforeCustody('v')},
           'disputed', ${disputed('v')},
           'witnesses', ${testimonies('v')}) order by v.address)
    from verified_address v
    left join farcaster_message m on m.fid = v.fid and m.hash = v.message_hash
    left join signer_key k on k.fid = m.fid and k.key = m.signer
   where v.fid = a.fid and v.ended_at is null), '[]') as addresses,
       (select json_agg(json_build_object(
                 'address', o->>'address', 'indexed', false, 'verified_at', o->>'verified_at',
                 'verdict', null, 'checks', null, 'checked_at', null, 'first_seen_at', null,
                 'message_hash', o->>'message_hash', 'verification_type', null, 'verification_chain_id', null, 'wallet_chain', null,
                 'key', null, 'key_source', null, 'before_custody', false, 'disputed', false,
                 'witnesses', json_build_array()) order by o->>'address')
          from social_profile p cross join jsonb_array_elements(p.other_addresses) as o
         where p.fid = a.fid) as others
  from agent a where a.fid = $1`,
    values: [fid],
  })
  return rows[0] && [...rows[0].addresses, ...(rows[0].others ?? [])]
}

/** Contract wallets that an account verifies now, in the index or not: the chain of each by its address. */
export async function contractWallets(db: Queryable, fid: number): Promise<Map<string, number>> {
  const { rows } = await db.query<{ address: string; chain: number }>({
    name: 'contract-wallets',
    text: `
select ${hex('address')} as address, verification_chain as chain
  from verified_address
 where fid = $1 and ended_at is null and verification_type = 1 and verification_chain is not null
 order by address`,
    values: [fid],
  })
  return new Map(rows.map(({ address, chain }) => [address, chain]))
}
