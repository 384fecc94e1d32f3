import type { ChainName } from '../../../config/chains.ts'
import type { Queryable } from '../../pool.ts'
import { chainId, hex, isoTime } from '../sql/json-text.ts'
import { countsFrom, leadingFirst } from '../sql/verification-time.ts'

/** Who is asked about. Null members are not known. */
interface PayeeQuestion {
  readonly agent: { readonly chain: ChainName; readonly id: string } | null
  /** Lowercase hex of an EVM address, or an account of another kind of chain. */
  readonly payTo: string | null
  /** A paid endpoint as a URL, its origin in lowercase, and the text that was given. */
  readonly endpoint: { readonly url: string; readonly origin: string; readonly given: string } | null
  /** Chain of the payment, or the name of another network in lowercase. */
  readonly network: string | null
  /** ISO 8601; null: at the newest final block. */
  readonly asOf: string | null
}

/** A log of an identity registry. */
interface RegistryLog {
  readonly address: string | null
  readonly block_number: number
  readonly tx_hash: string | null
}

/** What the index knows of a payee. Null members: nothing. */
export interface PayeeFacts {
  /** What the seller asks for at the endpoint, as it was last read. */
  readonly offer: {
    readonly url: string
    readonly sha256: string | null
    readonly pay_to: string | null
    readonly network: string | null
  } | null
  /** Outcome of the draft ERC-8478. */
  readonly outcome: string
  /** What ties the origin of the endpoint to the agent: its registration file there, and a document of a host that lists it. */
  readonly ties: { readonly registration_file: string | null; readonly host: string | null }
  readonly registration: {
    readonly chain: string
    readonly chain_id: number
    /** Decimal digits. */
    readonly erc8004_id: string
    readonly fid: number | null
    /** Its last transfer, with the owner; null: it was not minted by then. */
    readonly owner: RegistryLog | null
    /** The last change of its wallet since then; a null address: the wallet was unset. */
    readonly wallet: RegistryLog | null
    readonly block_number: number | null
    readonly block_timestamp: string | null
  } | null
  /** The account that verifies the address that is paid; where an agent is named, one that verifies its owner as well. */
  readonly human: { readonly fid: number; readonly assurance: string } | null
}

/** Lowercase hex of an EVM address. */
const isAddress = /^0x[0-9a-f]{40}$/

/** The facts about a payee at a moment. Offers are those that were read last, whatever the moment. */
export async function payeeFacts(
  db: Queryable,
  { agent, payTo, endpoint, network, asOf }: PayeeQuestion,
): Promise<PayeeFacts> {
  const { rows } = await db.query<{ facts: PayeeFacts }>({
    name: 'payee-facts',
    text,
    values: [
      agent?.chain ?? null,
      agent?.id ?? null,
      payTo,
      network,
      endpoint?.url ?? null,
      endpoint?.given ?? null,
      endpoint?.origin ?? null,
      asOf,
      payTo !== null && isAddress.test(payTo) ? Buffer.from(payTo.slice(2), 'hex') : null,
    ],
  })
  return (rows[0] as { facts: PayeeFacts }).facts
}

/** SQL: whether a row of a registry's events was there at the moment that is asked about. */
const wasThere = (row: string) =>
  `${row}.block_number <= state.finalized_block and ($8::timestamptz is null or ${row}.block_timestamp <= $8::timestamptz)`

/** Registrations of a seller that are looked through for the one that has an endpoint. */
const mostHoldings = 1_000
/** SQL: addresses of the own files of registrations that a FID holds and was not just sent. */
const filesOf = (fid: string) => `
  (select f.agent_uri
     from (select h.chain, h.agent_id
             from agent_holding h
            where h.fid = ${fid} and h.reason is null and not h.unsolicited
            limit ${mostHoldings}) held
     join own_file f using (chain, agent_id))`
/** SQL: whether an address is on the origin of the endpoint. */
const isThere = (url: string) => `starts_with(lower(${url}) || '/', $7 || '/')`

/** SQL: whether a verification was live at that moment, of an account that did not leave the directory. */
const wasLive = (v: string) => `
       ${countsFrom(v)} <= coalesce($8::timestamptz, 'infinity')
   and (${v}.ended_at is null or ${v}.ended_at > coalesce($8::timestamptz, 'infinity'))
   and not exists (select from unlisted u where u.fid = ${v}.fid)`

/** Documents with an offer at an endpoint that are looked at, and registrations of their sellers, those of few first. */
const most = { documents: 1_000, holdings: 50_000 }

/** SQL: of offers and documents, those first that a host lists, then those that were read last. */
const firstOf = (row: string) => `${row}.domain_verified desc, ${row}.last_alive_at desc nulls last`

const text = `
with document as materialized (
  select s.fid, s.kind, s.url, s.content_sha256, s.prices, s.domain_verified, s.last_alive_at
    from agent_spec s
   where $5::text is not null
     and (s.url in ($5, $6) or s.prices @> jsonb_build_array(jsonb_build_object('resource', $5::text))
                            or s.prices @> jsonb_build_array(jsonb_build_object('resource', $6::text)))
     and ($3::text is null or s.prices @> jsonb_build_array(jsonb_build_object('payTo', $3::text)))
     -- Anybody can name the address of somebody else: without an agent, what stands on the endpoint's own host counts.
     and case when $1::text is null then ${isThere('s.url')}
              else exists (select from agent_holding h
                            where h.fid = s.fid and h.chain = $1 and h.agent_id = $2::numeric and h.reason is null) end
   order by ${firstOf('s')}, s.fid, s.kind, s.url
   limit ${most.documents}
),
-- The offer of each seller that comes first.
seller as materialized (
  select distinct on (s.fid)
         s.fid, s.kind, s.url, s.domain_verified, s.last_alive_at, encode(s.content_sha256, 'hex') as sha256,
         p.place::int as place, p.price->>'payTo' as pay_to, p.price->>'network' as network,
         p.price->>'agent' as agent
    from document s
   cross join lateral jsonb_array_elements(s.prices) with ordinality as p (price, place)
   where (s.url in ($5, $6) or p.price->>'resource' in ($5, $6))
     and ($3::text is null or p.price->>'payTo' = $3)
     and ($4::text is null or coalesce(p.price->>'chain', lower(p.price->>'network')) = $4)
   order by s.fid, ${firstOf('s')}, s.kind, s.url, p.place
),
-- Anybody can name an endpoint, and hold very much: sellers are asked for their own files in the order of what they hold.
weighed as materialized (
  select s.*, sum(least(a.current_total, ${mostHoldings})) over (order by a.current_total, s.fid) as holdings,
         count(*) over () as sellers
    from seller s
    left join agent a using (fid)
),
offer as materialized (
  select *
    from (select s.*, s.sellers > 1 and s.holdings <= ${most.holdings}
                      and exists (select from ${filesOf('s.fid')} own where ${isThere('own.agent_uri')}) as has_file
            from weighed s offset 0) s
   order by s.domain_verified desc, s.has_file desc, s.last_alive_at desc nulls last, s.fid
   limit 1
),
named as (
  select r.chain, r.agent_id from registration r where r.chain = $1 and r.agent_id = $2::numeric
   union all
  select a.agent_chain, a.agent_id
    from offer o
    join offer_agent a using (fid, kind, url, place)
   where $1::text is null and a.agent_id is not null
),
at_moment as (
  select n.*, ${chainId('n.chain')} as chain_id, file.agent_uri, owner.log as owner, owner.address as owner_address, wallet.log as wallet, wallet.address as wallet_address,
         case when $8::timestamptz is null then state.finalized_block
              when $8::timestamptz <= state.indexed_at then greatest(owner.block_number, wallet.block_number) end as block_number,
         case when $8::timestamptz is null then case when state.finalized_block = state.indexed_block then state.indexed_at end
              when $8::timestamptz <= state.indexed_at then greatest(owner.block_timestamp, wallet.block_timestamp) end
           as block_timestamp
    from named n
    join registration r using (chain, agent_id)
    left join own_file file using (chain, agent_id)
    left join chain_state state using (chain)
    left join lateral (
      select t."to" as address, t.block_number, t.log_index, t.block_timestamp,
             json_build_object('address', ${hex('t."to"')}, 'block_number', t.block_number, 'tx_hash', ${hex('t.tx_hash')}) as log
        from registration_transfer t
       where t.chain = n.chain and t.agent_id = n.agent_id and ${wasThere('t')}
       order by t.block_number desc, t.log_index desc
       limit 1
    ) owner on true
    left join lateral (
      select w.wallet as address, w.block_number, w.block_timestamp,
             json_build_object('address', ${hex('w.wallet')}, 'block_number', w.block_number, 'tx_hash', ${hex('w.tx_hash')}) as log
        from registration_wallet w
       where w.chain = n.chain and w.agent_id = n.agent_id and ${wasThere('w')}
         and (w.block_number, w.log_index) > (owner.block_number, owner.log_index)
       order by w.block_number desc, w.log_index desc
       limit 1
    ) wallet on true
),
holder as (
  select v.fid
    from at_moment m
    join verified_address v on v.address = m.owner_address
    join agent a using (fid)
   where ${wasLive('v')}
   order by ${leadingFirst}
   limit 1
),
human as (
  select v.fid, coalesce(v.verdict, 'stated') as verdict
    from verified_address v
   where v.address = coalesce($9::bytea, (select decode(substr(pay_to, 3), 'hex') from offer where pay_to ~ '^0x[0-9a-f]{40}$'))
     and ${wasLive('v')}
     and (not exists (select from named)
          or exists (select from at_moment m
                       join verified_address o on o.address = m.owner_address and o.fid = v.fid
                      where ${wasLive('o')}))
   order by v.verdict = 'proven' desc nulls last, v.verdict = 'signed' desc nulls last, v.verified_at, v.fid
   limit 1
),
ties as (
  select (select m.agent_uri from at_moment m where ${isThere('m.agent_uri')}) as registration_file,
         (select s.url
            from at_moment m
            join agent_holding h using (chain, agent_id)
            join agent_spec s on s.fid = h.fid
           where h.reason is null and s.domain_verified and ${isThere('s.url')}
           order by s.url limit 1) as host
)
select json_build_object(
  'offer', (select json_build_object('url', url, 'sha256', sha256, 'pay_to', pay_to, 'network', network) from offer),
  'outcome', (
    select case when m.chain is null and $7::text is not null and not exists (select from offer where agent like '%:%:%' is not true) then 'not-read'
                else payee_outcome(coalesce($3::text, (select pay_to from offer)), m.chain is not null,
                       m.block_number is not null and m.owner_address is not null,
                       $7::text is null or t.registration_file is not null or t.host is not null,
                       ${hex('m.wallet_address')}, ${hex('m.owner_address')}) end
      from ties t left join at_moment m on true),
  'ties', (select to_json(t) from ties t),
  'registration', (
    select json_build_object(
             'chain', m.chain, 'chain_id', m.chain_id, 'erc8004_id', m.agent_id::text,
             'fid', (select fid from holder), 'owner', m.owner, 'wallet', m.wallet,
             'block_number', m.block_number, 'block_timestamp', ${isoTime('m.block_timestamp')})
      from at_moment m),
  'human', (select json_build_object('fid', fid, 'assurance', case when verdict in ('proven', 'signed') then verdict else 'stated' end)
              from human)
) as facts`
