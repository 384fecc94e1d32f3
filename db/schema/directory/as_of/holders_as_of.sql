-- One select, so that it becomes part of the statement that calls it: `strict` or a setting of its own would make it a scan
-- that no index reaches.
create or replace function directory.holders_as_of(chain text, at timestamptz)
returns table (erc8004_id numeric, holder_address text, held_from timestamptz, held_to timestamptz)
language sql stable parallel safe as $$
  select t.erc8004_id, t.holder_address, t.held_from, t.held_to
    from directory.tenures t
   where t.chain = $1 and t.held_from <= $2 and (t.held_to is null or t.held_to > $2)
$$;

comment on function directory.holders_as_of(text, timestamptz) is e'@behavior -*\nWho held the registrations of a chain at a time; reads all transfers up to then.';
