-- Money that an address got otherwise than as the recipient of a settlement, written by the chain processors and the
-- backfill: what a forwarder passed on in the same transaction, and what other contracts settled.
create table payment (
  id text primary key,
  chain text not null,
  block_number int not null,
  log_index int not null,                -- of the log that proves it; no settlement has it
  block_timestamp timestamptz not null,
  kind text not null,                    -- forwarded, permit2_exact, permit2_upto
  token bytea not null,                  -- of payments by contracts: any
  payer bytea not null,                  -- who signed, never a forwarder
  payee bytea not null,
  gross numeric(78, 0) not null,         -- base units of the token
  net numeric(78, 0) not null,           -- without the fees that the payee bore
  facilitator bytea not null,
  tx_hash bytea not null,
  forwarder bytea,                       -- forwarded: who passed it on
  origin_log_index int,                  -- forwarded: the settlement or payment of the same block whose money it is
  depth int,                             -- forwarded: hops from the payee of that one
  unique (chain, block_number, log_index),
  check ((kind = 'forwarded') = (forwarder is not null and origin_log_index is not null and depth is not null))
);
create index payment_payee on payment (payee, block_number desc);
create index payment_payer on payment (payer, block_number desc);
create index payment_facilitator on payment (facilitator, block_number desc);

-- Everything that addresses got, a row each. What went through a forwarder is there as a settlement to it and as the legs
-- that it paid: right for the sum of one payee, too much for the sum of all.
create view income_row as
select chain, block_number, log_index, block_timestamp,
       case when selector in ('\xe3ee160e'::bytea, '\xef55bec6'::bytea) then 'eip3009_vrs' else 'eip3009_bytes' end as kind,
       token, payer, recipient as payee, amount::numeric(78, 0) as gross, amount::numeric(78, 0) as net, facilitator, tx_hash,
       null::bytea as forwarder, null::int as origin_log_index, null::int as depth
  from settlement
 union all
select chain, block_number, log_index, block_timestamp, kind, token, payer, payee, gross, net, facilitator, tx_hash,
       forwarder, origin_log_index, depth
  from payment;
