create or replace view directory.demand as
select d.fid, nullif(d.chain, '') as chain, d.payers, d.new_last_30d as new_payers_30d,
       d.repeat_last_7d as repeat_payers_7d, d.repeat_last_30d as repeat_payers_30d, d.repeat_ever as repeat_payers_all,
       d.returned as payers_returned, d.median_gap as median_seconds_between_payments, d.amount * 0.000001 as amount_usdc,
       round(d.largest_amount / nullif(d.amount, 0), 6) as largest_payer_share
  from public.agent_demand d
 where exists (select from public.agent a where a.fid = d.fid);

comment on view directory.demand is e'@behavior -*\nWho pays an agent and comes back: payers that are not the agent itself, without what goes round in a ring, by payments of every kind, on each chain and on all of them. Final blocks only, a minute or so behind chains.rolled_up_block.';
comment on column directory.demand.fid is 'The agent’s id in the social network.';
comment on column directory.demand.chain is 'Lowercase name of the chain; null: all of them together, each payer once.';
comment on column directory.demand.payers is 'Who has ever paid.';
comment on column directory.demand.new_payers_30d is 'Those whose first payment is in the last 30 days, which begin with a full hour.';
comment on column directory.demand.repeat_payers_7d is 'Those whose newest payment is in the last 7 days and was not their first.';
comment on column directory.demand.repeat_payers_30d is 'Those whose newest payment is in the last 30 days and was not their first.';
comment on column directory.demand.repeat_payers_all is 'Those who paid more than once.';
comment on column directory.demand.payers_returned is 'Those whose newest payment came a day or more after their first.';
comment on column directory.demand.median_seconds_between_payments is 'The mean time between a payer’s payments: of those who paid more than once, the one in the middle; null: nobody did.';
comment on column directory.demand.amount_usdc is 'Dollars that all of them paid, with all six decimals.';
comment on column directory.demand.largest_payer_share is 'Of these, what the one who paid most paid, from 0 to 1; null: nobody paid dollars.';
