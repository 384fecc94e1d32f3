-- One select, so that it becomes part of the statement that calls it: `strict` or a setting of its own would make it a scan
-- that no index reaches.
create or replace function directory.fids_of_address_as_of(address text, at timestamptz)
returns table (fid bigint, verified_at timestamptz, ended_at timestamptz)
language sql stable parallel safe as $$
  select a.fid, a.verified_at, a.ended_at
    from directory.addresses a
   where a.address_bytes = decode(substr($1, 3), 'hex') and a.counts_from <= $2 and (a.ended_at is null or a.ended_at > $2)
$$;

comment on function directory.fids_of_address_as_of(text, timestamptz) is e'@behavior -*\nAccounts whose verified address it was at a time; 0x and 40 hex digits.';
