-- outside a transaction
drop index concurrently if exists webhook_event_fid;
create index concurrently webhook_event_fid on webhook_event (fid, seq);
drop index concurrently if exists webhook_fids;
create index concurrently webhook_fids on webhook using gin (fids) where deleted_at is null;
