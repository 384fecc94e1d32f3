-- What keeps callers or buyers from an endpoint, as the last look at it found.
alter table agent_spec add column findings jsonb not null default '[]';
