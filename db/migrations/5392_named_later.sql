-- Hours of payments of escrows and jobs whose facilitator got or lost its name after they were summed up.
insert into due (kind, key)
select distinct 'income hours', encode(recipient, 'hex') || ':' || chain || ':' || floor(extract(epoch from at) / 3600)::bigint
  from (select p.payee as recipient, p.chain, p.block_timestamp as at
          from facilitator_sender f
          join payment p on p.facilitator = f.address
         where p.kind in ('escrow_charge', 'escrow_capture', 'escrow_refund', 'job_release')
         union all
        select recipient, chain, hour from income_hour
         where x402 and kind in ('escrow_charge', 'escrow_capture', 'escrow_refund', 'job_release')) paid
 where exists (select from income_address a where a.address = paid.recipient);
