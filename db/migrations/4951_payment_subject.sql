-- outside a transaction
drop index concurrently if exists payment_subject;
create index concurrently payment_subject on payment (subject, chain, gross desc) where subject is not null;
