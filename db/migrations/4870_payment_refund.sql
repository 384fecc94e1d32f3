-- outside a transaction
drop index concurrently if exists payment_refund;
create index concurrently payment_refund on payment (payee, payer) where net < 0;
drop index concurrently if exists payment_held;
create index concurrently payment_held on payment (payee, token)
  where kind in ('batch_claim', 'batch_deposit', 'batch_return', 'escrow_capture', 'escrow_authorization', 'escrow_return');
