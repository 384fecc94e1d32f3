-- When a client first paid is one search whatever times it was an operator, tells escrows by their first charge and knows archives.
create or replace function first_settled_within(of_chain text, received_by bytea, by_payer bytea, times tstzmultirange)
  returns timestamptz language plpgsql stable set plan_cache_mode = force_generic_plan as $$
declare
  since constant timestamptz := lower(times);
  before constant timestamptz := upper(times);
  archived constant timestamptz := (
    select min(a.first_paid_at) from settlement_archive_sum a
     where a.chain = of_chain and a.recipient = received_by and a.payer = by_payer and times @> a.first_paid_at
       and exists (select from settlement_archive made where made.chain = a.chain and made.from_block = a.archive_block));
  block int;
  its refcursor;
  others refcursor;
  one settlement;
  is_upwards boolean;
  is_told boolean := false;
  answer timestamptz;
begin
  foreach is_upwards in array array[true, false] loop
    -- Two rows, as an hour has one for each form of the signature.
    select case when is_upwards then min(h.first_block) else max(h.last_block) end into block
      from ((select * from settlement_hourly
              where is_upwards and recipient = received_by and chain = of_chain and hour >= date_trunc('hour', since, 'UTC')
                and hour < before
              order by hour limit 2)
             union all
            (select * from settlement_hourly
              where not is_upwards and recipient = received_by and chain = of_chain and hour >= date_trunc('hour', since, 'UTC')
                and hour < before
              order by hour desc limit 2)) h;
    if block is null then
      return archived;
    end if;
    its := settlements_along(of_chain, 'recipient', received_by, block, is_upwards);
    others := settlements_along(of_chain, 'payer', by_payer, block, is_upwards);
    for turn in 1 .. 2000 loop
      if turn % 2 = 0 then
        fetch its into one;
      else
        fetch others into one;
      end if;
      if not found or is_upwards and one.block_timestamp >= before or not is_upwards and one.block_timestamp < since then
        is_told := true;
        exit;
      end if;
      if one.recipient = received_by and one.payer = by_payer and one.amount > 0 and times @> one.block_timestamp
         and not exists (select from settlement_unrolled u
                          where u.chain = of_chain and one.block_number between u.from_block and u.to_block) then
        is_told := true;
        answer := one.block_timestamp;
        exit;
      end if;
    end loop;
    close its;
    close others;
    if is_told then
      return least(answer, archived);
    end if;
  end loop;
  return archived;
end $$;

create or replace function first_paid_within(of_fid bigint, of_chain text, of_payee bytea, by_payer bytea, since timestamptz, before timestamptz)
  returns timestamptz language sql stable security definer set search_path = public, pg_temp as $$
  select least(first_settled_within(of_chain, of_payee, by_payer,
                 tstzmultirange(tstzrange(since, greatest(since, before))) - coalesce((
                   select range_agg(tstzrange(o.from_at, o.to_at))
                     from income_owner o
                    where o.fid = of_fid and o.address = by_payer and o.because = 'operator' and o.from_at < o.to_at
                 ), '{}')),
               first_other_within(of_fid, of_chain, of_payee, by_payer, since, before))
$$;

create or replace view judged_feedback as
select h.fid, f.*, not tenure.held as before_holder,
       case when own.is_own or own.is_past or k.fid = h.fid then 'self'
            when k.is_agent then 'agent'
            when k.fid is not null then 'account'
            else 'stranger' end as kind,
       case when own.is_own then h.fid else k.fid end as client_fid,
       coalesce(paid.at < f.block_timestamp, false) and not own.is_own and not own.is_past and k.fid is distinct from h.fid as paid,
       paid.at as paid_at, -- the first time the client paid the agent, before it or behind; not who got it back, or money that goes round
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
                          and (p.acquired_block, p.acquired_log_index) < (f.block_number, f.log_index))) as is_past,
          (select min(o.from_at) from income_owner o
            where o.fid = h.fid and o.address = f.client and o.because = 'operator') as acts_from
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
   select min(least(one.at, case when one.is_longer and i.from_at < f.block_timestamp
                                   then first_paid_within(h.fid, one.chain, i.address, f.client, i.from_at,
                                                          least(i.to_at, f.block_timestamp)) end)) as at
     from income_address i
    cross join lateral (
      select paid.chain, min(paid.at) filter (where paid.at >= i.from_at and paid.at < i.to_at and not named.is_so) as at,
             bool_or((paid.at < i.from_at or named.is_so) and paid.last_at >= i.from_at) as is_longer
        from (select s.chain, s.first_paid_at as at, s.last_at, false as is_known
                from settlement_payer s
               where s.recipient = i.address and s.payer = f.client and s.amount > 0
               union all
              select s.chain, s.first_at, s.last_at, false
                from payment_sum s
               where s.payee = i.address and s.payer = f.client and s.funder = ''
                 and has_paid(s.amount, s.fees, s.refunded)
               union all
              -- As of income: money of an address counts until that is the agent's own, and while it is no operator. Filling
              -- a channel for somebody else to sign costs little: a hundred of those who did are looked at. And as many of the
              -- keys that sign for money that the client put into channels itself.
              select s.chain, s.first_at, s.last_at, whose.is_known
                from ((select s.*, s.funder as other from payment_sum s
                        where s.payee = i.address and s.payer = f.client and s.funder <> ''
                        order by s.chain, s.funder
                        limit 100)
                       union all
                      (select s.*, s.payer from payment_sum s
                        where s.payee = i.address and s.funder = f.client and s.funder <> ''
                        order by s.chain, s.payer
                        limit 100)) s
               cross join lateral (
                 select count(*) > 0 as is_known, count(*) filter (where o.because <> 'operator') > 0 as is_own
                   from income_owner o
                  where o.fid = h.fid and o.address = s.other and o.from_at <= s.first_at
               ) whose
               where has_paid(s.amount, s.fees, s.refunded) and not whose.is_own
                 and not exists (select from income_ring r where r.recipient = s.payee and r.payer = s.payer)) paid
       -- The first payment of all is the first charge of its escrow: whether it was an operator's then is told by its own time.
       cross join lateral (
         select paid.is_known or coalesce(paid.at >= own.acts_from, false) and exists (
                  select from income_owner o
                   where o.fid = h.fid and o.address = f.client and o.because = 'operator'
                     and o.from_at <= paid.at and o.to_at > paid.at) as is_so
          offset 0
       ) named
       where i.chain in ('', paid.chain)
       group by paid.chain
      offset 0
    ) one
    where i.fid = h.fid and not exists (select from income_ring r where r.recipient = i.address and r.payer = f.client)
   offset 0
 ) paid
  left join feedback_file file on file.feedback_id = f.id
  left join lateral (
    select bool_or(its.is_ours) as is_ours,
           coalesce(min(p.log_index) filter (where its.is_ours), min(p.log_index)) as log_index
      from unnest(file.named_recipients, file.named_log_indexes) p (recipient, log_index)
     cross join lateral (
       select exists (select from income_address i
                       where i.fid = h.fid and i.address = p.recipient and i.chain in ('', file.named_chain)
                         and i.from_at <= file.named_at and file.named_at < i.to_at)
              and not exists (select from income_ring r where r.recipient = p.recipient and r.payer = f.client)
              and not exists (select from income_owner o
                               where o.fid = h.fid and o.address = f.client and o.because = 'operator'
                                 and o.from_at <= file.named_at and o.to_at > file.named_at)
              and not exists (select from payment one
                               where one.chain = file.named_chain and one.block_number = file.named_block
                                 and one.log_index = p.log_index and not is_from_others(one, h.fid)) as is_ours
     ) its
    having file.named = 'found'
  ) named on true
  left join standard_tag tag
    on tag.name = f.tag1 and f.value * ('1e-' || f.value_decimals)::numeric between tag.least and tag.most
   and (tag.unit <> 'boolean' or f.value * ('1e-' || f.value_decimals)::numeric in (0, 1))
 where h.reason is null and not h.unsolicited;

drop function first_settled_within(text, bytea, bytea, timestamptz, timestamptz);
