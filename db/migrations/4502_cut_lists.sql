-- Which lists of registration files, and which parts of a look at an agent's hosts, were cut.
alter table registration_document add column truncated jsonb not null default '{}';
alter table agent_spec_check add column truncated jsonb not null default '{}';
