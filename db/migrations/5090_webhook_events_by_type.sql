-- outside a transaction
drop index concurrently if exists webhook_event_type;
create index concurrently webhook_event_type on webhook_event (type, seq);
