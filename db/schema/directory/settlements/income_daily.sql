create or replace view directory.income_daily as
select i.fid, date_trunc('day', i.hour, 'UTC') as day, i.chain, i.kind, sum(i.n)::bigint as payments,
       sum(i.amount) * 0.000001 as amount_usdc,
       coalesce(sum(i.n) filter (where i.flag = 'none'), 0)::bigint as filtered_payments,
       coalesce(sum(i.amount) filter (where i.flag = 'none'), 0) * 0.000001 as filtered_amount_usdc,
       coalesce(sum(i.amount) filter (where i.x402), 0) * 0.000001 as x402_amount_usdc,
       coalesce(sum(i.amount) filter (where i.passed_on), 0) * 0.000001 as passed_on_amount_usdc,
       coalesce(sum(i.amount) filter (where i.passed_on and i.flag = 'none'), 0) * 0.000001
         as filtered_passed_on_amount_usdc
  from public.income_hour i
 where exists (select from public.agent a where a.fid = i.fid)
 group by i.fid, date_trunc('day', i.hour, 'UTC'), i.chain, i.kind;

comment on view directory.income_daily is e'@behavior -*\nThe same by agent and UTC day, raw and filtered side by side.';
comment on column directory.income_daily.fid is 'The agent’s id in the social network.';
comment on column directory.income_daily.day is 'Beginning of the day, UTC.';
comment on column directory.income_daily.chain is 'Lowercase name of the chain: ';
comment on column directory.income_daily.kind is 'Kind of the payments, as in the view income.';
comment on column directory.income_daily.payments is 'Payments, whoever paid and whatever the token.';
comment on column directory.income_daily.amount_usdc is 'Dollars of these, with all six decimals.';
comment on column directory.income_daily.filtered_payments is 'Payments by others than the agent itself: without self, same_owner and ring.';
comment on column directory.income_daily.filtered_amount_usdc is 'Dollars of these.';
comment on column directory.income_daily.x402_amount_usdc is 'Dollars of which something says that they are x402, whoever paid: the sender, the contract or the calldata.';
comment on column directory.income_daily.passed_on_amount_usdc is 'Dollars that are income of another agent too, whose address they went through. A sum over agents takes these off.';
comment on column directory.income_daily.filtered_passed_on_amount_usdc is 'Those of the filtered dollars.';
