-- What a count of some recipients' settlements needs besides totals and hours: those that are not rolled up, and the rest
-- of the hour that the window begins in. A statement that names a table of a hundred partitions takes longer to begin than
-- to read; here only the partitions of a range are opened, and none where there is nothing to look for. One plan for all
-- values: it leaves the other partitions out when it begins, and planning each range would take longer than reading it.
create function settlements_beside_sums(recipients bytea[], since timestamptz, overloads boolean,
                                        out recent bigint, out ever bigint, out newest_at timestamptz)
  language plpgsql stable parallel safe set plan_cache_mode = force_generic_plan as $$
declare
  place record;
  part record;
begin
  recent := 0;
  ever := 0;
  for place in select u.chain, u.from_block, u.to_block from settlement_unrolled u loop
    select count(*) filter (where s.block_timestamp > since) as recent, count(*) as ever, max(s.block_timestamp) as newest_at
      into part
      from settlement s
     where s.chain = place.chain and s.recipient = any (recipients)
       and s.block_number between place.from_block and place.to_block
       and (overloads or s.selector in ('\xe3ee160e', '\xef55bec6'));
    recent := recent + part.recent;
    ever := ever + part.ever;
    newest_at := greatest(newest_at, part.newest_at);
  end loop;
  for place in
    select h.* from settlement_hourly h
     where h.recipient = any (recipients) and h.hour = date_trunc('hour', since, 'UTC') and (overloads or not h.overload)
  loop
    select count(*) as recent
      into part
      from settlement s
     where s.chain = place.chain and s.recipient = place.recipient
       and s.block_number between place.first_block and place.last_block
       and place.overload <> (s.selector in ('\xe3ee160e', '\xef55bec6'))
       and s.block_timestamp > since and s.block_timestamp < place.hour + interval '1 hour'
       and not exists (select from settlement_unrolled u
                        where u.chain = place.chain and s.block_number between u.from_block and u.to_block);
    recent := recent + part.recent;
  end loop;
end $$;
