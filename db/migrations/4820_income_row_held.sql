-- Payment contracts may hold money for a payee, which is no income yet.
create or replace view income_row as
select chain, block_number, log_index, block_timestamp,
       case when selector in ('\xe3ee160e'::bytea, '\xef55bec6'::bytea) then 'eip3009_vrs' else 'eip3009_bytes' end as kind,
       token, payer, recipient as payee, amount::numeric(78, 0) as gross, amount::numeric(78, 0) as net, facilitator, tx_hash,
       null::bytea as forwarder, null::int as origin_log_index, null::int as depth
  from settlement
 union all
select chain, block_number, log_index, block_timestamp, kind, token, payer, payee, gross, net, facilitator, tx_hash,
       forwarder, origin_log_index, depth
  from payment
 where net <> 0;
