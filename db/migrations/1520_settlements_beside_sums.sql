-- The settlements of some recipients that their sums say nothing about: those that are not rolled up, and, of each window,
-- those behind its beginning in the hour it begins in. A statement that names a table of a hundred partitions takes longer
-- to begin than to read; here each chain's are read at once, of the partitions of a range alone. One plan for all values, as
-- of `settlements_beside_sums`, which counts such settlements where nobody asks who paid.
create function settlements_beside_windows(recipients bytea[], sinces timestamptz[], overloads boolean)
  returns table (recipient bytea, payer bytea, amount bigint, block_timestamp timestamptz,
                 since timestamptz) -- the beginning of the window it is of; null: not rolled up
  language plpgsql stable parallel safe set plan_cache_mode = force_generic_plan as $$
declare
  place record;
begin
  for place in select u.chain, u.from_block, u.to_block from settlement_unrolled u loop
    return query
    select one.address, s.payer, s.amount, s.block_timestamp, null::timestamptz
      from unnest(recipients) as one (address)
     cross join lateral (
       select s.payer, s.amount, s.block_timestamp
         from settlement s
        where s.chain = place.chain and s.recipient = one.address
          and s.block_number between place.from_block and place.to_block
          and (overloads or s.selector in ('\xe3ee160e', '\xef55bec6'))
       offset 0 -- each is looked up: the planner cannot know that the range is short
     ) s;
  end loop;
  for place in
    select w.since, h.chain, h.hour + interval '1 hour' as hour_end,
           min(h.first_block) as from_block, max(h.last_block) as to_block, array_agg(h.recipient) as recipients,
           array_agg(h.first_block) as firsts, array_agg(h.last_block) as lasts, array_agg(h.overload) as kinds
      from unnest(sinces) as w (since)
     cross join unnest(recipients) as one (address)
     cross join lateral (
       select * from settlement_hourly h
        where h.recipient = one.address and h.hour = date_trunc('hour', w.since, 'UTC') and (overloads or not h.overload)
       offset 0
     ) h
     group by w.since, h.chain, h.hour
  loop
    return query
    select h.recipient, s.payer, s.amount, s.block_timestamp, place.since
      from unnest(place.recipients, place.firsts, place.lasts, place.kinds) as h (recipient, first_block, last_block, overload)
     cross join lateral (
       select s.payer, s.amount, s.block_timestamp
         from settlement s
        where s.chain = place.chain and s.recipient = h.recipient
          and s.block_number between place.from_block and place.to_block
          and s.block_number between h.first_block and h.last_block
          and h.overload <> (s.selector in ('\xe3ee160e', '\xef55bec6'))
          and s.block_timestamp > place.since and s.block_timestamp < place.hour_end
          and not exists (select from settlement_unrolled u
                           where u.chain = place.chain and s.block_number between u.from_block and u.to_block)
       offset 0
     ) s;
  end loop;
end $$;
