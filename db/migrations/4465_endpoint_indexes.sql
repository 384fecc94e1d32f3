-- outside a transaction
-- Whose an endpoint is, by its own address and by those that prices name: GET /api/payee.
create index concurrently if not exists agent_spec_url on agent_spec using hash (url);
create index concurrently if not exists agent_spec_prices on agent_spec using gin (prices jsonb_path_ops);
