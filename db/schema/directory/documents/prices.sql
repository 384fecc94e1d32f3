create or replace view directory.prices as
select s.fid, s.kind, s.url, p.place::int as place, p.price->>'resource' as resource, p.price->>'description' as description,
       p.price->>'scheme' as scheme, p.price->>'network' as network, p.price->>'chain' as chain,
       p.price->>'asset' as asset,
       case when p.price->>'currency' is null then (p.price->>'amount')::numeric end as amount, p.price->>'payTo' as pay_to,
       (p.price->>'minUsd')::numeric as min_amount_usd, (p.price->>'maxUsd')::numeric as max_amount_usd,
       s.last_alive_at, s.last_check_at, coalesce((p.price->>'testnet')::boolean, false) as testnet,
       p.price->>'currency' as currency, case when p.price->>'currency' is not null then p.price->>'amount' end as currency_amount,
       case when p.price->>'signedUntil' is not null then coalesce(p.price->>'signedBy', p.price->>'payTo') end as signed_by,
       to_timestamp(nullif(p.price->>'signedUntil', 'always')::float8) as signed_until
  from public.agent_spec s
 cross join lateral jsonb_array_elements(s.prices) with ordinality as p (price, place);

comment on view directory.prices is e'@behavior -*\nWhat agents say that they ask for, in the documents on their hosts and in the 402 answers of their endpoints. Nobody checked it, and it is no income. Give a fid.';
comment on column directory.prices.fid is 'The agent’s id in the social network.';
comment on column directory.prices.kind is 'Kind of the document: a2a, mcp, openapi or x402.';
comment on column directory.prices.url is 'Where the document or the endpoint lies.';
comment on column directory.prices.place is 'Its place among the prices of the document, from 1; at most 20 are kept.';
comment on column directory.prices.resource is 'What is sold, as the seller names it: an address, or a method and a path.';
comment on column directory.prices.description is 'What the seller says of it.';
comment on column directory.prices.scheme is 'How x402 charges it: exact, upto and others; null: it is not said.';
comment on column directory.prices.network is 'The network as it is declared, such as eip155:8453 or base.';
comment on column directory.prices.chain is 'Name of the chain that `network` means; null: none that is known here.';
comment on column directory.prices.asset is 'What is to be paid with, as it is declared; an address in lowercase.';
comment on column directory.prices.amount is 'In base units of `asset`; null: it is not said, or it stands in `currency_amount`.';
comment on column directory.prices.pay_to is 'Who is to be paid, as it is declared; it says nothing about who that is. An address in lowercase.';
comment on column directory.prices.min_amount_usd is 'Dollars it costs at least; null: not known, as for what is neither USD nor a dollar token of the chain.';
comment on column directory.prices.max_amount_usd is 'Dollars it costs at most; null: not known.';
comment on column directory.prices.last_alive_at is 'When the document was last found alive.';
comment on column directory.prices.last_check_at is 'When it was last asked for.';
comment on column directory.prices.testnet is 'Whether `network` is one for tests, where money is worth nothing.';
comment on column directory.prices.currency is 'What `currency_amount` is in, as the seller writes it, where that is neither base units of `asset` nor dollars.';
comment on column directory.prices.currency_amount is 'What is asked for in `currency`, as the seller writes it.';
comment on column directory.prices.signed_by is 'Whose key signed the offer for its endpoint: the address of `pay_to`, or a key that the host publishes, by its DID URL; null: the seller only says so.';
comment on column directory.prices.signed_until is 'Until when what is signed holds; null: it says no end, or is not signed.';
