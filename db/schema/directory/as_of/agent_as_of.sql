-- One select, so that it becomes part of the statement that calls it: `strict` or a setting of its own would make it a scan
-- that no index reaches.
create or replace function directory.agent_as_of(fid bigint, at timestamptz)
returns table (chain text, erc8004_id numeric, held_by text, held_from timestamptz, held_to timestamptz)
language sql stable parallel safe as $$
  select t.chain, t.erc8004_id, t.holder_address, greatest(t.held_from, a.counts_from), least(t.held_to, a.ended_at)
    from directory.addresses a
    join directory.tenures t on t.holder_bytes = a.address_bytes
   where a.fid = $1 and a.counts_from <= $2 and (a.ended_at is null or a.ended_at > $2)
     and t.held_from <= $2 and (t.held_to is null or t.held_to > $2)
$$;

comment on function directory.agent_as_of(bigint, timestamptz) is e'@behavior -*\nRegistrations that an account held at a time, through addresses that were its own then, and from when to when it did.';
