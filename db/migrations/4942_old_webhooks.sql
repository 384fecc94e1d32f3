-- outside a transaction
drop index concurrently if exists webhook_deleted;
create index concurrently webhook_deleted on webhook (deleted_at) where deleted_at is not null;
drop index concurrently if exists webhook_standing_ended;
create index concurrently webhook_standing_ended on webhook_standing (ended_at) where ended_at is not null;
drop index concurrently if exists webhook_delivery_at;
create index concurrently webhook_delivery_at on webhook_delivery (at);
