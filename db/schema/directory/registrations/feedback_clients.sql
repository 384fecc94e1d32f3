create or replace view directory.feedback_clients as
select '0x' || encode(c.client, 'hex') as client_address, c.seen_at as first_seen_at,
       '0x' || encode(c.funder, 'hex') as funder_address, c.funded_at, cardinality(c.registrations) as registrations,
       array(select distinct x.rule from public.feedback_flag x where x.client = c.client order by 1) as flags,
       c.client as client_bytes
  from public.feedback_client c;

comment on view directory.feedback_clients is e'@behavior -*\nEverybody who gave feedback, with what shows that many act as one: docs/rules.md has the rules. Fast for one client_bytes. What is known of money are settlements and other indexed payments.';
comment on column directory.feedback_clients.client_address is 'Who gave feedback.';
comment on column directory.feedback_clients.first_seen_at is 'When it was first seen: its first feedback, or the first time that it was paid before.';
comment on column directory.feedback_clients.funder_address is 'Who was the first to pay it, before its first feedback; null: nobody that is known.';
comment on column directory.feedback_clients.funded_at is 'When that was.';
comment on column directory.feedback_clients.registrations is 'How many registrations it rated; 20 stands for more.';
comment on column directory.feedback_clients.flags is 'Rules that flag feedback of it: circle, funding_chain, made_together, only_rates, shared_funder. Empty: none.';
comment on column directory.feedback_clients.client_bytes is 'The client as bytes: conditions on it use an index, those on the text do not.';
