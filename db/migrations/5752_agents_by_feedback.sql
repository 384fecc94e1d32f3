-- outside a transaction
drop index concurrently if exists searched_agent_feedback;
create index concurrently searched_agent_feedback on searched_agent (most_feedback) where most_feedback > 0;
