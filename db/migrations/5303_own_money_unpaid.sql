-- Sums by whose money it was, and feedback that rests on them.
alter table payment_sum drop constraint payment_sum_pkey,
  add constraint payment_sum_pkey primary key using index payment_sum_by_funder;

create or replace function add_payment_sums(more payment_sum[]) returns void language sql as $$
  insert into payment_sum as s (payee, payer, chain, first_at, last_at, amount, refunded, funder)
  select payee, payer, chain, first_at, last_at, amount, refunded, funder from unnest(more) order by payee, payer, chain, funder
      on conflict (payee, payer, chain, funder) do update
     set first_at = least(s.first_at, excluded.first_at), last_at = greatest(s.last_at, excluded.last_at),
         amount = s.amount + excluded.amount, refunded = s.refunded + excluded.refunded
$$;

create function nearest_payment(to_payee bytea, by_payer bytea, of_chain text, by_funder bytea, block int, at timestamptz,
                                is_upwards boolean)
  returns timestamptz language plpgsql stable set plan_cache_mode = force_generic_plan set enable_sort = off as $$
declare
  paid refcursor;
  given refcursor;
  one payment;
begin
  if is_upwards then
    block := coalesce((select p.block_number + 1 from payment p
                        where p.payer = by_payer and p.chain = of_chain and p.block_number < block and p.block_timestamp < at
                          and p.net > 0
                        order by p.block_number desc limit 1), 0);
    open paid for select p.* from payment p where p.payee = to_payee and p.block_timestamp >= at and p.net > 0
                   order by p.block_timestamp, p.chain, p.block_number, p.log_index;
    open given for select p.* from payment p where p.payer = by_payer and p.block_number >= block and p.net > 0
                   order by p.block_number;
  else
    block := coalesce((select p.block_number - 1 from payment p
                        where p.payer = by_payer and p.chain = of_chain and p.block_number > block and p.block_timestamp > at
                          and p.net > 0
                        order by p.block_number limit 1), 2147483647);
    open paid for select p.* from payment p where p.payee = to_payee and p.block_timestamp <= at and p.net > 0
                   order by p.block_timestamp desc, p.chain desc, p.block_number desc, p.log_index desc;
    open given for select p.* from payment p where p.payer = by_payer and p.block_number <= block and p.net > 0
                   order by p.block_number desc;
  end if;
  for turn in 1 .. 2000000000 loop
    if turn % 2 = 0 then
      fetch paid into one;
    else
      fetch given into one;
    end if;
    exit when not found
           or (one.payee, one.payer, one.chain, coalesce(one.funder, '')) = (to_payee, by_payer, of_chain, by_funder)
              and is_summed(one);
  end loop;
  close paid;
  close given;
  return one.block_timestamp;
end $$;

create or replace function subtract_payment_sums(less payment[]) returns void language sql as $$
  with gone as materialized (
    select payee, payer, chain, coalesce(funder, '') as funder, min(block_number) filter (where net > 0) as first_block,
           max(block_number) filter (where net > 0) as last_block, min(block_timestamp) filter (where net > 0) as first_at,
           max(block_timestamp) filter (where net > 0) as last_at, coalesce(sum(net) filter (where net > 0), 0) as amount,
           coalesce(-sum(net) filter (where net < 0), 0) as refunded
      from unnest(less) p
     where is_summed(p)
     group by payee, payer, chain, coalesce(funder, '')
  ),
  kept as materialized (
    select s.payee, s.payer, s.chain, s.funder, s.amount - gone.amount as amount, s.refunded - gone.refunded as refunded,
           case when s.amount = gone.amount then 'infinity' when gone.first_at is null or gone.first_at > s.first_at then s.first_at
                else coalesce(nearest_payment(s.payee, s.payer, s.chain, s.funder, gone.first_block, gone.first_at, true), s.first_at)
           end as first_at,
           case when s.amount = gone.amount then '-infinity' when gone.last_at is null or gone.last_at < s.last_at then s.last_at
                else coalesce(nearest_payment(s.payee, s.payer, s.chain, s.funder, gone.last_block, gone.last_at, false), s.last_at)
           end as last_at
      from gone
      join payment_sum s using (payee, payer, chain, funder)
  ),
  removed as (
    delete from payment_sum s using kept
     where (s.payee, s.payer, s.chain, s.funder) = (kept.payee, kept.payer, kept.chain, kept.funder)
       and kept.amount = 0 and kept.refunded = 0
  )
  update payment_sum s
     set first_at = kept.first_at, last_at = kept.last_at, amount = kept.amount, refunded = kept.refunded
    from kept
   where (s.payee, s.payer, s.chain, s.funder) = (kept.payee, kept.payer, kept.chain, kept.funder)
     and (kept.amount <> 0 or kept.refunded <> 0)
$$;

drop function nearest_payment(bytea, bytea, text, int, timestamptz, boolean);

create or replace function sum_payments() returns trigger language plpgsql as $$
begin
  if not exists (select from moved
                  where not exists (select from settlement_unrolled u
                                     where u.chain = moved.chain and moved.block_number between u.from_block and u.to_block)) then
    return null;
  end if;
  if tg_op = 'INSERT' then
    perform add_payment_sums(array(
      select row(p.payee, p.payer, p.chain, coalesce(min(p.block_timestamp) filter (where p.net > 0), 'infinity'),
                 coalesce(max(p.block_timestamp) filter (where p.net > 0), '-infinity'),
                 coalesce(sum(p.net) filter (where p.net > 0), 0),
                 coalesce(-sum(p.net) filter (where p.net < 0), 0), coalesce(p.funder, ''))::payment_sum
        from moved
       cross join lateral (select * from payment_summed s where s.id = moved.id offset 0) p
       group by p.payee, p.payer, p.chain, coalesce(p.funder, '')));
  else
    perform subtract_payment_sums(array(select moved::payment from moved));
  end if;
  return null;
end $$;

create or replace function sum_moved_blocks() returns trigger language plpgsql as $$
declare
  moved_chain text;
  before bigint;
begin
  if tg_table_name = 'settlement_rollup' then
    moved_chain := new.chain;
  else
    select b.chain, b.from_block into moved_chain, before from backfill b where b.id = new.backfill_id;
  end if;
  if tg_op = 'UPDATE' then
    before := old.next_block;
  end if;
  if before < new.next_block then
    perform add_payment_sums(array(
      select row(payee, payer, chain, coalesce(min(block_timestamp) filter (where net > 0), 'infinity'),
                 coalesce(max(block_timestamp) filter (where net > 0), '-infinity'),
                 coalesce(sum(net) filter (where net > 0), 0),
                 coalesce(-sum(net) filter (where net < 0), 0), coalesce(funder, ''))::payment_sum
        from payment_summed
       where chain = moved_chain and block_number >= before and block_number < new.next_block
       group by payee, payer, chain, coalesce(funder, '')));
  elsif new.next_block <= 0 then
    delete from payment_sum where chain = moved_chain;
  end if;
  return null;
end $$;

create function first_paid_within(of_chain text, of_payee bytea, by_payer bytea, by_funder bytea, since timestamptz,
                                  before timestamptz)
  returns timestamptz language sql stable security definer set search_path = public, pg_temp as $$
  select least(
    (select min(s.block_timestamp) from settlement s
      where by_funder is null and s.chain = of_chain and s.recipient = of_payee and s.payer = by_payer and s.amount > 0
        and s.block_timestamp >= since and s.block_timestamp < before
        and not exists (select from settlement_unrolled u
                         where u.chain = of_chain and s.block_number between u.from_block and u.to_block)),
    (select min(p.block_timestamp) from payment_summed p
      where p.chain = of_chain and p.payee = of_payee and p.payer = by_payer and coalesce(p.funder, '') = by_funder
        and p.block_timestamp >= since and p.block_timestamp < before and p.net > 0))
$$;

create or replace function payments_behind(of_fid bigint, by_client bytea, at timestamptz)
  returns table (chain text, tx_hash bytea, block_number int, log_index int) language sql stable as $$
  select one.chain, one.tx_hash, one.block_number, one.log_index
    from income_address i
   cross join lateral (
     select s.chain, s.tx_hash, s.block_number, s.log_index
       from settlement_hourly h
      cross join lateral (
        select s.* from settlement s
         where s.chain = h.chain and s.recipient = h.recipient and s.block_number between h.first_block and h.last_block
           and s.payer = by_client and s.block_timestamp = at and s.amount > 0
         order by s.block_number, s.log_index
         limit 1
      ) s
      where h.recipient = i.address and h.hour = date_trunc('hour', at, 'UTC')
      union all
     select p.chain, p.tx_hash, p.block_number, p.log_index
       from payment p
      where p.payee = i.address and p.block_timestamp = at and p.payer = by_client and p.net > 0
        and not exists (select from income_owner o
                         where o.fid = of_fid and o.address = p.funder and o.because <> 'operator' and o.from_at <= at)
   ) one
   where i.fid = of_fid and i.chain in ('', one.chain) and i.from_at <= at and at < i.to_at
   order by one.chain, one.block_number, one.log_index
   limit 1
$$;

create or replace view judged_feedback as
select h.fid, f.*, not tenure.held as before_holder,
       case when own.is_own or own.is_past or k.fid = h.fid then 'self'
            when k.is_agent then 'agent'
            when k.fid is not null then 'account'
            else 'stranger' end as kind,
       case when own.is_own then h.fid else k.fid end as client_fid,
       coalesce(paid.at < f.block_timestamp, false) and not own.is_own and not own.is_past and k.fid is distinct from h.fid as paid,
       paid.at as paid_at, -- the first time the client paid the agent, before it or behind; not who got all of it back
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
   select min(case when one.at >= i.from_at then case when one.at < least(i.to_at, one.until) then one.at end
                   when one.last_at >= i.from_at and i.from_at < f.block_timestamp
                     then first_paid_within(one.chain, i.address, f.client, one.funder, i.from_at,
                                            least(i.to_at, one.until, f.block_timestamp))
              end) as at
     from income_address i
    cross join lateral (
      select s.chain, null::bytea as funder, s.first_paid_at as at, s.last_at, timestamptz 'infinity' as until
        from settlement_payer s
       where s.recipient = i.address and s.payer = f.client and s.amount > 0
       union all
      -- As of income: money of an address counts until that is the agent's own.
      select s.chain, s.funder, s.first_at, s.last_at,
             coalesce((select min(o.from_at) from income_owner o
                        where o.fid = h.fid and o.address = s.funder and o.because <> 'operator'), 'infinity')
        from payment_sum s
       where s.payee = i.address and s.payer = f.client and s.amount > s.refunded
      offset 0
    ) one
    where i.fid = h.fid and i.chain in ('', one.chain)
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
              and not exists (select from payment one
                                join income_owner o on o.fid = h.fid and o.address = one.funder and o.because <> 'operator'
                                                   and o.from_at <= file.named_at
                               where one.chain = file.named_chain and one.block_number = file.named_block
                                 and one.log_index = p.log_index) as is_ours
     ) its
    having file.named = 'found'
  ) named on true
  left join standard_tag tag
    on tag.name = f.tag1 and f.value * ('1e-' || f.value_decimals)::numeric between tag.least and tag.most
   and (tag.unit <> 'boolean' or f.value * ('1e-' || f.value_decimals)::numeric in (0, 1))
 where h.reason is null and not h.unsolicited;
drop function first_paid_within(text, bytea, bytea, timestamptz, timestamptz);
