create function first_charge(of_subject bytea, of_chain text) returns table (place bigint, at timestamptz)
  language sql stable rows 1 security definer set search_path = public, pg_temp set enable_sort = off set enable_bitmapscan = off as $$
  select (p.block_number::bigint << 32) + p.log_index, p.block_timestamp
    from payment p
   where p.kind in ('escrow_charge', 'escrow_capture') and p.net > 0
     and (p.subject, p.chain) >= (of_subject, of_chain) and (p.subject, p.chain) <= (of_subject, of_chain)
   order by p.subject, p.chain, p.block_number, p.log_index
   limit 1
$$;
