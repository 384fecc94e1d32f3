-- outside a transaction
-- Words are looked for in searched_agent.
drop index concurrently if exists agent_words_document;
