-- outside a transaction
-- Feedback of a registration, newest first, from any place on. One that was broken off is made anew.
drop index concurrently if exists feedback_newest;
create index concurrently feedback_newest on feedback (chain, agent_id, block_timestamp, block_number, log_index);
drop index concurrently if exists feedback_agent;
