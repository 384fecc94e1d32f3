-- Running sums of payments of escrows, in place of a look at their first hundred rows for each refund.
-- Rows of a subject from a place on, in the order of the chain. By any statistics the index above alone has this order.
create function payments_of_subject(of_subject bytea, of_chain text, place bigint, most int) returns setof payment
  language sql stable set enable_sort = off set enable_bitmapscan = off as $$
  select * from payment p
   where p.subject is not null
     and (p.subject, p.chain, p.block_number, p.log_index) >= (of_subject, of_chain, (place >> 32)::int, (place & 4294967295)::int)
     and (p.subject, p.chain) <= (of_subject, of_chain)
   order by p.subject, p.chain, p.block_number, p.log_index
   limit most
$$;
-- Running sums of payments of escrows of which something went back, a row for each of theirs.
create table escrow_part (
  subject bytea not null,
  chain text not null,
  place bigint not null,           -- number of the block << 32, and the log's index in it: as payment has them
  block_timestamp timestamptz not null,
  amount numeric(78, 0) not null,  -- what came to the payee, or what a refund took of what was left, below zero
  paid numeric(78, 0) not null,    -- all that came until then
  refunded numeric(78, 0) not null, -- all that refunds took of that
  primary key (subject, chain, place)
);
-- What had come by a time from which, or up to which, an address is an agent's.
create index escrow_part_time on escrow_part (subject, chain, block_timestamp, place);
insert into due (kind, key)
select distinct 'escrows',
       encode(substr(subject, 1, 20), 'hex') || ':' || chain || ':' || encode(substr(subject, 21), 'hex') || ':' || lpad('0', 20, '0')
  from payment
 where net < 0 and subject is not null;
-- And hours of payments that stood behind the hundredth row.
insert into due (kind, key)
select distinct 'income hours',
       encode(p.payee, 'hex') || ':' || p.chain || ':' || floor(extract(epoch from p.block_timestamp) / 3600)::bigint
  from (select subject, chain from payment
         where kind in ('escrow_charge', 'escrow_capture', 'escrow_refund', 'escrow_authorization', 'escrow_return')
         group by subject, chain having count(*) > 100) crowd
  join payment p using (subject, chain)
 where p.net <> 0 and exists (select from income_address a where a.address = p.payee);
