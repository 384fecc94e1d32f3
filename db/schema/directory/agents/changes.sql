create or replace view directory.changes as
select seq, fid, kind, changed_at from public.agent_change;

comment on view directory.changes is e'@behavior -*\nThe log of changes that mirrors follow: the newest entry of each agent.';
comment on column directory.changes.seq is 'Number of the entry; later ones are larger.';
comment on column directory.changes.fid is 'The agent’s id in the social network.';
comment on column directory.changes.kind is 'upsert: the agent changed, or is new; delist: it left.';
comment on column directory.changes.changed_at is 'When it did.';
