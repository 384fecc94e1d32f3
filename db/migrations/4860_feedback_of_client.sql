-- outside a transaction
-- Feedback of a client, oldest first: the first ones are read of those who gave very much.
drop index concurrently if exists feedback_of_client;
create index concurrently feedback_of_client on feedback (client, block_timestamp);
drop index concurrently if exists feedback_client;
