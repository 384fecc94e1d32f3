create or replace view directory.prices as
select s.fid, s.kind, s.url, p.place::int as place, p.price->>'resource' as resource, p.price->>'description' as description,
       p.price->>'scheme' as scheme, p.price->>'network' as network, p.price->>'chain' as chain,
       p.price->>'asset' as asset,
       case when p.price->>'currency' is null then (p.price->>'amount')::numeric end as amount, p.price->>'payTo' as pay_to,
       (p.price->>'minUsd')::numeric as min_amount_usd, (p.price->>'maxUsd')::numeric as max_amount_usd,
       s.last_alive_at, s.last_check_at, coalesce((p.price->>'testnet')::boolean, false) as testnet,
       p.price->>'currency' as currency, case when p.price->>'currency' is not null then p.price->>'amount' end as currency_amount,
       case when p.price->>'signedUntil' is not null then coalesce(p.price->>'signedBy', p.price->>'payTo') end as signed_by,
       to_timestamp(nullif(p.price->>'signedUntil', 'always')::float8) as signed_until,
       (p.price->>'signedSince')::timestamptz as signed_since,
       case when paid.tx_hash is not null then 'fulfilled' end as offer_outcome,
       '0x' || encode(paid.tx_hash, 'hex') as paid_tx_hash, paid.block_number as paid_block_number, paid.block_timestamp as paid_at
  from public.agent_spec s
 cross join lateral jsonb_array_elements(s.prices) with ordinality as p (price, place)
  left join lateral (
    -- Of somebody who is paid all the time, the newest five thousand of each kind are looked at, whatever they paid. What the
    -- seller or an own address of the agent paid, or put into a channel, fulfils nothing, nor does what went back in part.
    select i.tx_hash, i.block_number, i.block_timestamp
      from (select chain, finalized_block,
                   case when p.price->>'payTo' ~ '^0x[0-9a-f]{40}$' then decode(substr(p.price->>'payTo', 3), 'hex') end as payee,
                   case when p.price->>'asset' ~ '^0x[0-9a-f]{40}$' then decode(substr(p.price->>'asset', 3), 'hex') end as token,
                   case when p.price->>'currency' is null then (p.price->>'amount')::numeric end as most, coalesce(p.price->>'scheme', '') = 'upto' as may_be_less,
                   (p.price->>'signedSince')::timestamptz as since,
                   coalesce(to_timestamp(nullif(p.price->>'signedUntil', 'always')::float8), 'infinity') as until
              from public.chain_state where chain = p.price->>'chain' and p.price->>'signedSince' is not null) o
     cross join lateral (
       (select c.tx_hash, c.block_number, c.log_index, c.block_timestamp, c.token, c.payer, null::bytea as funder, null::bytea as subject, c.amount::numeric as gross,
               true as is_payment
          from public.settlement c
         where c.recipient = o.payee and c.chain = o.chain
         order by c.block_number desc
         limit 5000)
       union all
       (select c.tx_hash, c.block_number, c.log_index, c.block_timestamp, c.token, c.payer, c.funder, c.subject, c.gross,
               c.kind <> 'forwarded' and c.net > 0
          from public.payment c
         where c.payee = o.payee and c.chain = o.chain and c.block_timestamp between o.since and o.until
         order by c.block_timestamp desc
         limit 5000)) i
     where i.is_payment and i.token = o.token and i.block_timestamp between o.since and o.until and i.block_number <= o.finalized_block
       and case when tokens_are_scaled() then (exact_of(o.chain, i.block_number, i.log_index, i.gross)).base_units else i.gross end
           between case when o.may_be_less then 1 else o.most end and o.most
       and i.payer <> o.payee and i.funder is distinct from o.payee
       and not exists (select from public.payment r
                        where r.subject = i.subject and r.chain = o.chain and sign(r.net) = -1 and r.block_number <= o.finalized_block
                          and (r.block_number, r.log_index) > (i.block_number, i.log_index))
       and not exists (select from public.income_owner w
                        where w.fid = s.fid and w.address in (i.payer, i.funder) and w.from_at <= i.block_timestamp
                          and (w.because <> 'operator' or w.to_at > i.block_timestamp))
     order by i.block_number desc
     limit 1) paid on true;

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
comment on column directory.prices.signed_by is 'Whose key signed the offer for its endpoint: the address of `pay_to`, or a key that the host publishes or names in DNS, by its DID URL; null: the seller only says so.';
comment on column directory.prices.signed_until is 'Until when what is signed holds; null: it says no end, or is not signed.';
comment on column directory.prices.signed_since is 'When this signed offer was first seen; null: it is not signed, was not looked at since that is kept, or is beyond the 20 of the agent that were seen first, of which an outcome is told.';
comment on column directory.prices.offer_outcome is 'fulfilled: while the signed offer held, a payment of its token and amount to `pay_to`, with money of others than that and the agent’s own addresses, of which nothing went back, is in a final block; null: none is known. What it was paid for stands on no chain, so that nothing is said of payments of other amounts.';
comment on column directory.prices.paid_tx_hash is 'Transaction of the newest such payment.';
comment on column directory.prices.paid_block_number is 'Its block, on `chain`.';
comment on column directory.prices.paid_at is 'Time of that block.';
