-- An escrow's payment is told by its first charge or capture in feedback too, as in income.
create or replace function is_from_others(p payment, of_fid bigint) returns boolean
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
