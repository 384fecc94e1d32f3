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
      where p.payee = i.address and p.block_timestamp = at and p.payer = by_client and p.net > 0
   ) one
   where i.fid = of_fid and i.chain in ('', one.chain) and i.from_at <= at and at < i.to_at
   order by one.chain, one.block_number, one.log_index
   limit 1
$$;

-- The same as {chain, tx_hash, block_number, log_index}; null: there is none. Readers of the SQL contract may ask it.
create or replace function payment_behind(of_fid bigint, by_client bytea, at timestamptz) returns json
  language sql stable security definer set search_path = public, pg_temp set plan_cache_mode = force_generic_plan as $$
  select json_build_object('chain', one.chain, 'tx_hash', '0x' || encode(one.tx_hash, 'hex'),
                           'block_number', one.block_number, 'log_index', one.log_index)
    from payments_behind(of_fid, by_client, at) one
$$;
