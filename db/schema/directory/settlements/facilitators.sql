create or replace view directory.facilitators as
select s.name, '0x' || encode(s.address, 'hex') as sender_address, s.source, t.chain, not t.overload as counted,
       coalesce(t.n, 0) as settlements, coalesce(t.amount, 0) * 0.000001 as amount_usdc,
       t.first_at as first_used_at, t.last_at as last_used_at
  from public.facilitator_sender s
  left join public.facilitator_total t on t.facilitator = s.address and t.n > 0;

comment on view directory.facilitators is e'@behavior -*\nAccounts of known facilitators and what they settled, by chain and by kind of selector. Final blocks only, up to chains.rolled_up_block. An account that never sent has one row without a chain.';
comment on column directory.facilitators.name is 'The facilitator.';
comment on column directory.facilitators.sender_address is 'Account that it sends transactions from.';
comment on column directory.facilitators.source is 'Who says that the account is the facilitator’s: the published list, or a host of the facilitator.';
comment on column directory.facilitators.chain is 'Lowercase name of the chain: ';
comment on column directory.facilitators.counted is 'Whether it is of one of the two selectors that rankings and counts of the API are made of.';
comment on column directory.facilitators.settlements is 'Settlements that it sent.';
comment on column directory.facilitators.amount_usdc is 'Dollars, with all six decimals.';
comment on column directory.facilitators.first_used_at is 'Time of the oldest of them.';
comment on column directory.facilitators.last_used_at is 'Time of the newest of them.';
