-- outside a transaction
-- Whose an endpoint is, by its own address and by those that prices name: GET /api/payee.
drop index concurrently if exists agent_spec_url;
create index concurrently agent_spec_url on agent_spec using hash (url);
drop index concurrently if exists agent_spec_prices;
create index concurrently agent_spec_prices on agent_spec using gin (prices jsonb_path_ops);
