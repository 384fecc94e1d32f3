-- Feedback from who was named an operator, unasked, is not the agent's own.
-- A payment that no row has contradicts nothing, and nor does one to another address: both may have been made.
create or replace view judged_feedback as
select h.fid, f.*, not tenure.held as before_holder,
       case when own.is_own or own.is_past or k.fid = h.fid then 'self'
            when k.is_agent then 'agent'
            when k.fid is not null then 'account'
            else 'stranger' end as kind,
       case when own.is_own then h.fid else k.fid end as client_fid,
       coalesce(paid.at < f.block_timestamp, false) and not own.is_own and not own.is_past and k.fid is distinct from h.fid as paid,
       paid.at as paid_at, -- the first time the client paid the agent, before it or behind
       -- What it rests on. A payment that a file names counts if we have it, and never one of the same owner. One that we lack
       -- neither counts nor contradicts, nor does one to another address: the agent may have asked for payments there.
       case when file.status = 'ok' and file.hash <> 'mismatch' and file.named = 'others'
              then 'contradicted'
            when file.status = 'ok' and file.hash <> 'mismatch' and named.is_ours
                 and not own.is_own and not own.is_past and k.fid is distinct from h.fid
              then 'payment_named'
            when paid.at < f.block_timestamp and not own.is_own and not own.is_past and k.fid is distinct from h.fid
              then 'payment'
            when file.hash = 'mismatch' then 'hash_mismatch'
            when file.status = 'ok' then 'file'
            else 'none' end as grounds,
       tag.unit,
       file.status as file_status, file.hash as file_hash, file.read_at as file_read_at, file.payment_from,
       file.payment_to, file.payment_chain_id, file.payment_tx, file.named, file.named_chain, file.named_block,
       named.log_index as named_log_index
  from agent_holding h
  join feedback f on f.chain = h.chain and f.agent_id = h.agent_id
 cross join lateral (
   select exists (
            select from agent_holding p
             where p.fid = h.fid and p.chain = f.chain and p.agent_id = f.agent_id
               and (p.acquired_block, p.acquired_log_index) < (f.block_number, f.log_index)
               and not exists (
                 select from registration_transfer t
                  where t.chain = f.chain and t.agent_id = f.agent_id and t."from" is distinct from t."to"
                    and (t.block_number, t.log_index) > (p.acquired_block, p.acquired_log_index)
                    and (t.block_number, t.log_index) < (f.block_number, f.log_index))) as held
   offset 0
 ) tenure
 cross join lateral (
   select exists (select from income_owner o
                   where o.fid = h.fid and o.address = f.client and o.from_at <= f.block_timestamp
                     and o.because <> 'operator') as is_own,
          not tenure.held and (
            exists (select from registration_wallet w
                     where w.chain = f.chain and w.agent_id = f.agent_id and w.wallet = f.client
                       and (w.block_number, w.log_index) < (f.block_number, f.log_index))
            or exists (select from agent_holding p
                         join income_owner o on o.fid = p.fid and o.address = f.client
                                            and o.from_at <= f.block_timestamp and o.because <> 'operator'
                        where p.chain = f.chain and p.agent_id = f.agent_id
                          and (p.acquired_block, p.acquired_log_index) < (f.block_number, f.log_index))) as is_past
   offset 0
 ) own
  left join lateral (
    select c.fid, exists (select from agent peer where peer.fid = c.fid) as is_agent
      from (select v.fid
              from verified_address v
             where v.address = f.client and coalesce(v.seen_from, v.verified_at) <= f.block_timestamp
               and (v.ended_at is null or v.ended_at > f.block_timestamp)
             union
            select o.fid
              from income_owner o
             where o.address = f.client and o.because = 'wallet'
               and o.from_at <= f.block_timestamp and o.to_at > f.block_timestamp) c
     where not exists (select from unlisted u where u.fid = c.fid)
     order by c.fid <> h.fid, 2 desc, c.fid
     limit 1
  ) k on true
 cross join lateral (
   select min(case when one.at >= i.from_at then case when one.at < i.to_at then one.at end
                   when one.last_at >= i.from_at and i.from_at < f.block_timestamp
                     then first_paid_within(one.chain, i.address, f.client, i.from_at, least(i.to_at, f.block_timestamp))
              end) as at
     from income_address i
    cross join lateral (
      select s.chain, coalesce(s.first_paid_at, s.first_at) as at, s.last_at
        from settlement_payer s
       where s.recipient = i.address and s.payer = f.client and s.amount > 0
       union all
      select s.chain, s.first_at, s.last_at
        from payment_sum s
       where s.payee = i.address and s.payer = f.client and s.amount > 0
      offset 0
    ) one
    where i.fid = h.fid and i.chain in ('', one.chain)
   offset 0
 ) paid
  left join feedback_file file on file.feedback_id = f.id
  left join lateral (
    select bool_or(i.from_at <= file.named_at) as is_ours,
           coalesce(min(p.log_index) filter (where i.from_at <= file.named_at), min(p.log_index)) as log_index
      from unnest(file.named_recipients, file.named_log_indexes) p (recipient, log_index)
      left join income_address i
        on i.fid = h.fid and i.address = p.recipient and i.chain in ('', file.named_chain) and file.named_at < i.to_at
    having file.named = 'found'
  ) named on true
  left join standard_tag tag
    on tag.name = f.tag1 and f.value * ('1e-' || f.value_decimals)::numeric between tag.least and tag.most
   and (tag.unit <> 'boolean' or f.value * ('1e-' || f.value_decimals)::numeric in (0, 1))
 where h.reason is null and not h.unsolicited;
