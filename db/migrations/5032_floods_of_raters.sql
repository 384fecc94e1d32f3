-- A flood of ratings flags those who came with it, and none who had rated before.
alter table feedback_group add column times tstzmultirange;
create or replace view feedback_flag as
select f.id, f.client, c.funder, c.seen_at, found.rule
  from feedback f
  join feedback_client c on c.client = f.client
 cross join lateral (
   select r.name as rule
     from feedback_rule r
    where r.name = 'funding_chain' and c.generation >= r.least_clients
    union all
   select g.rule
     from (values ('circle', encode(f.client, 'hex')), ('shared_funder', encode(c.funder, 'hex')),
                  -- Who rated another registration as well came by itself.
                  ('only_rates', case when c.is_idle and (
                     select bool_and(exists (select from feedback_group o where o.rule = 'only_rates' and o.subject = other))
                       from unnest(c.registrations) other)
                    then f.chain || ':' || f.agent_id end),
                  ('made_together', case when c.is_idle then
                    f.chain || ':' || f.agent_id || ':' || floor(extract(epoch from c.seen_at) / 3600)::bigint end))
          own (rule, subject)
     join feedback_group g using (rule, subject)
    where g.times is null
       or exists (select from feedback o
                   where o.chain = f.chain and o.agent_id = f.agent_id and o.client = f.client and g.times @> o.block_timestamp)
 ) found
 where found.rule = 'circle'
    or not exists (select from settlement_scope)
   and (found.rule not in ('only_rates', 'made_together')
        or exists (select from settlement_rollup r where r.chain = f.chain));
insert into due (kind, key) select 'rater groups', rule || ':' || subject from feedback_group where rule = 'only_rates';
