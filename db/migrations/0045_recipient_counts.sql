-- What addresses of agents were paid in the windows that rankings and totals are made of, as the enrichment job last
-- counted it, every minute. Amounts in base units.

create table recipient_counts (
  address bytea primary key,
  last_24h bigint not null,
  last_24h_amount numeric(38, 0) not null,
  last_7d bigint not null,
  last_7d_amount numeric(38, 0) not null,
  last_30d bigint not null,
  last_30d_amount numeric(38, 0) not null,
  ever bigint not null,
  ever_amount numeric(38, 0) not null,
  newest_at timestamptz                  -- time of the newest settlement; null: there is none
);

-- Until the job has counted to the row, by full hours.
insert into recipient_counts
select recipient,
       coalesce(last_24h, 0), coalesce(last_24h_amount, 0), coalesce(last_7d, 0), coalesce(last_7d_amount, 0),
       coalesce(last_30d, 0), coalesce(last_30d_amount, 0), ever, ever_amount, newest_at
  from (select recipient, sum(n) as ever, sum(amount) as ever_amount, max(last_at) as newest_at
          from settlement_total
         where not overload and recipient in (select unnest(verified_addresses) from agent)
         group by recipient) total
  left join (select recipient,
                    sum(n) filter (where hour > now() - interval '24 hours') as last_24h,
                    sum(amount) filter (where hour > now() - interval '24 hours') as last_24h_amount,
                    sum(n) filter (where hour > now() - interval '7 days') as last_7d,
                    sum(amount) filter (where hour > now() - interval '7 days') as last_7d_amount,
                    sum(n) as last_30d, sum(amount) as last_30d_amount
               from settlement_hourly
              where not overload and hour > now() - interval '30 days'
              group by recipient) recent using (recipient);
