-- Of what is stored it is not known; whatever changes it says in which hour.
alter table agent_demand add column derived_in timestamptz not null default '-infinity';
