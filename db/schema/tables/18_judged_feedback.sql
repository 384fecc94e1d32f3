-- Feedback on agents, with what is known of who gave it.

-- Whether a payment to an address of an agent is one of somebody else, as income flags it: neither who signed it nor whose money
-- it was is the agent's own then, nor an operator then, and it does not go round. Of an escrow the first charge or capture tells.
-- As its owner, because readers of the views may not read the tables.
create function is_from_others(p payment, of_fid bigint) returns boolean
  language sql stable security definer set search_path = public, pg_temp as $$
  select not exists (select from income_ring r where r.recipient = p.payee and r.payer = p.payer)
     and not exists (
       select from income_owner o
        cross join (
          select coalesce(case when p.kind in ('escrow_charge', 'escrow_capture', 'escrow_refund')
                                 then (select one.at from first_charge(p.subject, p.chain) one) end, p.block_timestamp) as at) flagged
        where o.fid = of_fid and o.address in (p.payer, p.funder) and o.from_at <= flagged.at
          and (o.because <> 'operator' or o.to_at > flagged.at))
$$;

-- As that, of one of which something came to the payee, if not all that was paid so went back. The sum is looked up by its
-- key: by equal columns all of its payer's may be read.
create function is_kept_from_others(p payment, of_fid bigint) returns boolean language sql stable as $$
  select p.net > 0 and is_summed(p)
     and (select has_paid(s.amount, s.fees, s.refunded)
            from payment_sum s
           where (s.payee, s.payer, s.chain, s.funder) >= (p.payee, p.payer, p.chain, coalesce(p.funder, ''))
             and (s.payee, s.payer, s.chain, s.funder) <= (p.payee, p.payer, p.chain, coalesce(p.funder, '')))
     and is_from_others(p, of_fid)
$$;

-- When a payer first settled something with a recipient at some times, in blocks that are rolled up or in archived ones; null: it
-- did not, or neither the first thousand settlements of either from the first of these times on nor, then, the last ones tell. Of
-- archived ones only the first of a payer in each archive is known.
create function first_settled_within(of_chain text, received_by bytea, by_payer bytea, times tstzmultirange)
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

-- The same of other payments, of a client's signature or money, that are somebody else's than the agent's: among the payee's
-- first 500 in that time, and the newest 700 of either kind that the client had a part in.
create function first_other_within(of_fid bigint, of_chain text, of_payee bytea, by_client bytea, since timestamptz, before timestamptz)
  returns timestamptz language sql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
  select p.block_timestamp
    from (select p.*
            from ((select * from payment
                    where payee = of_payee and block_timestamp >= since and block_timestamp < before and net <> 0
                    order by block_timestamp, chain, block_number, log_index
                    limit 500)
                   union all
                  (select * from payment where payer = by_client and net <> 0 order by block_number desc limit 700)
                   union all
                  (select * from payment where funder = by_client order by block_number desc limit 700)) p
           where p.chain = of_chain and p.payee = of_payee and by_client in (p.payer, p.funder) and p.net > 0
             and p.block_timestamp >= since and p.block_timestamp < before
           order by p.block_timestamp
          offset 0) p
   where is_kept_from_others(p::payment, of_fid)
   order by p.block_timestamp
   limit 1
$$;

-- When an address first paid an address of an agent something in a time, in blocks that are rolled up, while it was no operator
-- of the agent; null: it did not, or it is not found. An operator's settlements are told by their own time, an escrow's payment by
-- its first charge. For payers who had paid before that time already, or were operators: the sums by payer have the first payment
-- of all. The views ask it for readers.
create function first_paid_within(of_fid bigint, of_chain text, of_payee bytea, by_payer bytea, since timestamptz, before timestamptz)
  returns timestamptz language sql stable security definer set search_path = public, pg_temp as $$
  select least(first_settled_within(of_chain, of_payee, by_payer,
                 tstzmultirange(tstzrange(since, greatest(since, before))) - coalesce((
                   select range_agg(tstzrange(o.from_at, o.to_at))
                     from income_owner o
                    where o.fid = of_fid and o.address = by_payer and o.because = 'operator' and o.from_at < o.to_at
                 ), '{}')),
               first_other_within(of_fid, of_chain, of_payee, by_payer, since, before))
$$;

-- The tags that the standard gives a meaning, with the unit of their values and the range in which they have it. A value of
-- another range is of somebody's own scale.
-- Source: ERC-8004, examples of tag1.
create view standard_tag as
select * from (values
  ('starred', 'points', 0::numeric, 100::numeric),
  ('reachable', 'boolean', 0, 1),
  ('ownerVerified', 'boolean', 0, 1),
  ('uptime', 'percent', 0, 100),
  ('successRate', 'percent', 0, 100),
  ('responseTime', 'milliseconds', 0, 'infinity'),
  ('blocktimeFreshness', 'blocks', 0, 'infinity'),
  ('revenues', 'usd', 0, 'infinity'),
  ('tradingYield', 'percent', '-infinity', 'infinity')) tag (name, unit, least, most);

-- The first payment of a client to an agent, which `paid_at` is the time of; none: its row is archived. Postgres takes it into
-- the statement that asks, as it does not a function with rights of its own: the partitions are opened once, not for every row.
create function payments_behind(of_fid bigint, by_client bytea, at timestamptz)
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
      where p.payee = i.address and p.block_timestamp = at and by_client in (p.payer, p.funder) and p.net > 0
        and is_from_others(p, of_fid)
   ) one
   where i.fid = of_fid and i.chain in ('', one.chain) and i.from_at <= at and at < i.to_at
     and not exists (select from income_ring r where r.recipient = i.address and r.payer = by_client)
   order by one.chain, one.block_number, one.log_index
   limit 1
$$;

-- The same as {chain, tx_hash, block_number, log_index}; null: there is none. Readers of the SQL contract may ask it.
create function payment_behind(of_fid bigint, by_client bytea, at timestamptz) returns json
  language sql stable security definer set search_path = public, pg_temp set plan_cache_mode = force_generic_plan as $$
  select json_build_object('chain', one.chain, 'tx_hash', '0x' || encode(one.tx_hash, 'hex'),
                           'block_number', one.block_number, 'log_index', one.log_index)
    from payments_behind(of_fid, by_client, at) one
$$;

-- Every feedback on the registrations that agents hold now, but for those that strangers sent: not feedback on their holder.
-- Fast for one fid. Whose the client is, is told as of the block of the feedback:
-- self: an address that is or was the agent's own, as of income (income_owner), or of who held the registration before. An
-- operator is not: an owner may name its critics, and the registry takes no feedback from those who can act for a registration;
-- agent, account: another one's verified address, or its wallet; stranger: nobody's.
create view judged_feedback as
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

-- Who rates whom. Addresses cost nothing, so a thousand of them may be one voice. What is known of clients is what stored
-- facts say: their feedback, and who paid them or was paid by them in settlements and other indexed payments of dollars.
-- Money that came otherwise is not known. Derived; nothing is deleted for it.

-- The rules by which feedback is flagged: how many clients a group has at least, and what share of those it is compared with.
create view feedback_rule as
select * from (values
  ('circle', 2, 0.8, 'The client and those it rates rate each other in a circle of two to six, and hardly anybody else, and it has not paid for all of these ratings.'),
  ('funding_chain', 5, null, 'The client was first paid by another client of the same registration, which was first paid by another one, and so on: at least the fifth of such a chain.'),
  ('made_together', 50, 0.95, 'Of those who rated the registration in one hour, nearly all were first seen in that hour and never paid anybody.'),
  ('only_rates', 200, 0.98, 'Nearly all clients of the registration, and of all others that the client rated, never paid anybody: they do nothing but give feedback.'),
  ('shared_funder', 20, 0.8, 'The same address was the first to pay many clients, hardly paid anybody else, and they rate few registrations.'))
  rule (name, least_clients, least_share, about);

-- Those who gave feedback, and what they did otherwise.
create table feedback_client (
  client bytea primary key,
  seen_at timestamptz not null,  -- first known: its first feedback, or the first time it was paid
  is_idle boolean not null,      -- it never paid anybody, more than dust, and rated few registrations
  registrations text[] not null, -- those it rated, as chain:id, the first of them
  funder bytea,                  -- who was the first to pay it more than dust, before its first feedback; null: nobody is known
  funded_at timestamptz,
  generation smallint not null   -- 1, or one more than that of a funder who rated a registration of these too; bounded
) with (fillfactor = 85);
create index feedback_client_funder on feedback_client (funder) where funder is not null;

-- Whom clients rated: holders and wallets of registrations as of the first feedback on each, but for holders who were sent one
-- and named no wallet for it since; and who else rates from addresses of the accounts that have these verified. None of those
-- who rated many.
create table feedback_edge (
  client bytea not null,
  registration text not null, -- chain:id
  address bytea not null,
  is_paid boolean not null,   -- the client paid an address of the registration, more than dust, and it did not go round
  primary key (client, registration, address)
);
create index feedback_edge_address on feedback_edge (address, client);

-- Clients that a rule says act as one. No other group is stored.
create table feedback_group (
  rule text not null,      -- of feedback_rule
  subject text not null,   -- circle: a client; shared_funder: the funder; only_rates: chain:id; made_together: with the hour since 1970
  clients int not null,    -- of the group
  compared int not null,   -- of those that its share is of
  times tstzmultirange,    -- only_rates: when they first rated the registration, one run after another; null: at any time
  primary key (rule, subject)
);

-- The rules that flag each feedback. What rests on payments is not told where not all of them are indexed.
create view feedback_flag as
select f.id, f.client, c.funder, c.seen_at, found.rule
  from feedback f
  join feedback_client c on c.client = f.client
 cross join lateral (
   select r.name as rule
     from feedback_rule r
    where r.name = 'funding_chain' and c.generation >= r.least_clients
    union all
   select g.rule
     from (values ('circle', encode(f.client, 'hex')), ('shared_funder', encode(c.funder, 'hex')),
                  -- Who rated another registration as well came by itself.
                  ('only_rates', case when c.is_idle and (
                     select bool_and(exists (select from feedback_group o where o.rule = 'only_rates' and o.subject = other))
                       from unnest(c.registrations) other)
                    then f.chain || ':' || f.agent_id end),
                  ('made_together', case when c.is_idle then
                    f.chain || ':' || f.agent_id || ':' || floor(extract(epoch from c.seen_at) / 3600)::bigint end))
          own (rule, subject)
     join feedback_group g using (rule, subject)
    where g.times is null
       or exists (select from feedback o
                   where o.chain = f.chain and o.agent_id = f.agent_id and o.client = f.client and g.times @> o.block_timestamp)
 ) found
 where found.rule = 'circle'
    or not exists (select from settlement_scope)
   and (found.rule not in ('only_rates', 'made_together')
        or exists (select from settlement_rollup r where r.chain = f.chain));
