-- One function keeps both sums of the hours of income.
drop trigger income_hour_agent_added on income_hour;
drop trigger income_hour_agent_changed on income_hour;
drop trigger income_hour_agent_removed on income_hour;
drop function sum_agent_income();
create or replace function sum_income() returns trigger language plpgsql as $$
declare
  moved text := concat_ws(' union all ',
    case when tg_op <> 'DELETE' then 'select *, 1 as sign from added' end,
    case when tg_op <> 'INSERT' then 'select *, -1 as sign from removed' end);
begin
  execute format($sum$
    insert into income_total as t (chain, kind, flag, x402, n, amount, dust_n, dust_amount, other_n)
    select chain, kind, flag, x402, sum(sign * n), sum(sign * amount), sum(sign * dust_n), sum(sign * dust_amount),
           sum(sign * other_n)
      from (%s) moved where not passed_on
     group by 1, 2, 3, 4 order by 1, 2, 3, 4
        on conflict (chain, kind, flag, x402) do update
       set n = t.n + excluded.n, amount = t.amount + excluded.amount, dust_n = t.dust_n + excluded.dust_n,
           dust_amount = t.dust_amount + excluded.dust_amount, other_n = t.other_n + excluded.other_n
  $sum$, moved);
  execute format($sum$
    insert into income_agent as t (fid, chain, n, amount)
    select fid, chain, sum(sign * n), sum(sign * amount)
      from (%s) moved where flag = 'none'
     group by 1, 2 order by 1, 2
        on conflict (fid, chain) do update set n = t.n + excluded.n, amount = t.amount + excluded.amount
  $sum$, moved);
  return null;
end $$;
