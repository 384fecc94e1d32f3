-- Operators of all that an owner holds are no longer among the words of each of its registrations.
insert into due (kind, key)
select 'searched registrations', r.chain || ':' || r.agent_id
  from registration r
 where exists (select from registration_operator o where o.owner = r.owner and o.chain = r.chain);
