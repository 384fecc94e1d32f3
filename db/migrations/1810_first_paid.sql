-- A settlement of nothing makes nobody a payer: when the first one with an amount was. Null, with an amount in all: not
-- known, the row was last summed up before this column was there; then `first_at` stands for it.
alter table settlement_payer add column first_paid_at timestamptz;
alter table settlement_archive_sum add column first_paid_at timestamptz;

create or replace view directory.agent_feedback as
select a.fid, f.chain, f.agent_id as erc8004_id, '0x' || encode(f.client, 'hex') as client_address,
       coalesce(k.kind, 'stranger') as client, k.fid as client_fid, f.feedback_index,
       f.value * ('1e-' || f.value_decimals)::numeric as value, f.tag1, f.tag2,
       coalesce(k.kind <> 'self', true)
         and exists (select from public.settlement_payer s
                      where s.recipient = any (a.verified_addresses) and s.payer = f.client and s.amount > 0
                        and not s.overload and coalesce(s.first_paid_at, s.first_at) < f.block_timestamp) as paid,
       f.block_number, f.log_index, f.block_timestamp, f.revoked_at
  from public.agent a
  join public.agent_holding h on h.fid = a.fid and h.reason is null and not h.unsolicited
  join public.feedback f on f.chain = h.chain and f.agent_id = h.agent_id
  left join lateral (
    select v.fid, case when v.fid = a.fid then 'self' when peer.fid is not null then 'agent' else 'account' end as kind
      from public.verified_address v
      left join public.agent peer on peer.fid = v.fid
     where v.address = f.client and v.ended_at is null
       and not exists (select from public.unlisted u where u.fid = v.fid)
     order by v.fid <> a.fid, peer.fid is null, v.fid
     limit 1
  ) k on true;
