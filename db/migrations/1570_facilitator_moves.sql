-- Whoever sums facilitators up meets few moved rows at a time for days, and then a million of a loaded range, in one
-- session and by one plan: what was and what is are therefore put together by grouping, never by a join of the two.
create or replace function sum_facilitators() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into facilitator_total as t (facilitator, chain, overload, first_at, last_at, n, amount)
    select facilitator, chain, overload, min(first_at), max(last_at), sum(n), sum(amount) from added
     group by 1, 2, 3 order by 1, 2, 3
        on conflict (facilitator, chain, overload) do update
       set first_at = least(t.first_at, excluded.first_at), last_at = greatest(t.last_at, excluded.last_at),
           n = t.n + excluded.n, amount = t.amount + excluded.amount;
  elsif tg_op = 'TRUNCATE' then
    truncate facilitator_total;
  elsif tg_op = 'UPDATE' then
    update facilitator_total t
       set first_at = least(t.first_at, moved.first_at), last_at = greatest(t.last_at, moved.last_at),
           n = t.n + moved.n, amount = t.amount + moved.amount
      from (select facilitator, chain, overload, min(first_at) as first_at, max(last_at) as last_at,
                   sum(n) as n, sum(amount) as amount
              from (select facilitator, chain, overload, first_at, last_at, n, amount from added
                     union all
                    select facilitator, chain, overload, null, null, -n, -amount from removed) part
             group by 1, 2, 3) moved
     where (t.facilitator, t.chain, t.overload) = (moved.facilitator, moved.chain, moved.overload);
    -- An end that moved inwards is looked for among what is left.
    perform refit_facilitators(array(
      select distinct facilitator
        from (select facilitator
                from (select recipient, facilitator, chain, overload, first_at, last_at,
                             null::timestamptz as first_was, null::timestamptz as last_was from added
                       union all
                      select recipient, facilitator, chain, overload, null, null, first_at, last_at from removed) part
               group by recipient, facilitator, chain, overload
              having min(first_at) > min(first_was) or max(last_at) < max(last_was)) inwards));
  else
    update facilitator_total t
       set n = t.n - gone.n, amount = t.amount - gone.amount
      from (select facilitator, chain, overload, sum(n) as n, sum(amount) as amount from removed group by 1, 2, 3) gone
     where (t.facilitator, t.chain, t.overload) = (gone.facilitator, gone.chain, gone.overload);
    perform refit_facilitators(array(select distinct facilitator from removed));
  end if;
  return null;
end $$;
