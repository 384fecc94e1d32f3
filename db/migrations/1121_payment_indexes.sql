-- outside a transaction
-- Payments of a payee by time, for pages and for sums of an hour; those that an address passed on; and the key of the hours
-- of income. One that was broken off is made anew.
drop index concurrently if exists payment_received;
create index concurrently payment_received on payment (payee, block_timestamp, chain, block_number, log_index);
drop index concurrently if exists payment_payee;
drop index concurrently if exists payment_forwarder;
create index concurrently payment_forwarder on payment (forwarder) where forwarder is not null;
drop index concurrently if exists income_hour_key;
create unique index concurrently income_hour_key
    on income_hour (fid, hour, recipient, chain, kind, flag, x402, passed_on);
