-- outside a transaction
drop index concurrently if exists settlement_payer_alone;
create index concurrently settlement_payer_alone on settlement_payer (payer) where n > 0;
drop index concurrently settlement_payer_payer;
