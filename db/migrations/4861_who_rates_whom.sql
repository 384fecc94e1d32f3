-- Who rates whom. Addresses cost nothing, so a thousand of them may be one voice. What is known of clients is what stored
-- facts say: their feedback, and who paid them or was paid by them in settlements and other indexed payments of dollars.
-- Money that came otherwise is not known. Derived; nothing is deleted for it.

-- The rules by which feedback is flagged: how many clients a group has at least, and what share of those it is compared with.
create view feedback_rule as
select * from (values
  ('circle', 2, 0.8, 'The client and those it rates rate each other in a circle of two to six, without having paid each other, and hardly anybody else.'),
  ('funding_chain', 5, null, 'The client was first paid by another client of the same registration, which was first paid by another one, and so on: at least the fifth of such a chain.'),
  ('made_together', 50, 0.95, 'Of those who rated the registration in one hour, nearly all were first seen in that hour and never paid anybody.'),
  ('only_rates', 200, 0.98, 'Nearly all clients of the registration, and of all others that the client rated, never paid anybody: they do nothing but give feedback.'),
  ('shared_funder', 20, 0.8, 'The same address was the first to pay many clients, hardly paid anybody else, and they rate few registrations.'))
  rule (name, least_clients, least_share, about);

-- Those who gave feedback, and what they did otherwise.
create table feedback_client (
  client bytea primary key,
  seen_at timestamptz not null,  -- first known: its first feedback, or the first time it was paid
  is_idle boolean not null,      -- it never paid anybody, and rated few registrations
  registrations text[] not null, -- those it rated, as chain:id, the first of them
  funder bytea,                  -- who was the first to pay it, before its first feedback; null: nobody is known
  funded_at timestamptz,
  generation smallint not null   -- 1, or one more than that of a funder who rated a registration of these too; bounded
) with (fillfactor = 85);
create index feedback_client_funder on feedback_client (funder) where funder is not null;

-- Whom clients rated: holders and wallets of registrations as of the first feedback on each. None of those who rated many.
create table feedback_edge (
  client bytea not null,
  registration text not null, -- chain:id
  address bytea not null,
  is_paid boolean not null,   -- the client paid the address
  primary key (client, registration, address)
);
create index feedback_edge_address on feedback_edge (address, client);

-- Whose edges were looked at for an address: while none of these moves, it is in the same circles.
create table feedback_reach (
  client bytea not null,
  address bytea not null,
  primary key (client, address)
);
create index feedback_reach_address on feedback_reach (address);

-- Clients that a rule says act as one. No other group is stored.
create table feedback_group (
  rule text not null,      -- of feedback_rule
  subject text not null,   -- circle: a client; shared_funder: the funder; only_rates: chain:id; made_together: with the hour since 1970
  clients int not null,    -- of the group
  compared int not null,   -- of those that its share is of
  primary key (rule, subject)
);

-- The rules that flag each feedback. What rests on payments is not told where not all of them are indexed.
create view feedback_flag as
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
 ) found
 where found.rule = 'circle'
    or not exists (select from settlement_scope)
   and (found.rule not in ('only_rates', 'made_together')
        or exists (select from settlement_rollup r where r.chain = f.chain));

-- Clients of feedback that is there; what moves later makes its clients due itself.
insert into due (kind, key) select distinct 'raters', encode(client, 'hex') from feedback;

-- Summaries are counted again, with what is flagged.
delete from agent_feedback;
