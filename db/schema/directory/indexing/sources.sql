create or replace view directory.sources as
select s.source, s.subject, case when s.subject like 'fid:%' then substr(s.subject, 5)::bigint end as fid, s.due_at,
       s.last_attempt_at, s.last_success_at, s.last_outcome, s.failures
  from public.source_state s
 where not exists (select from public.unlisted u where s.subject = 'fid:' || u.fid);

comment on view directory.sources is e'@behavior -*\nWhen each source was last asked about what, and how that went. Conditions on subject use an index.';
comment on column directory.sources.source is 'socialindex, agent_uri, explorer, identity, codehost, spec_discovery and others.';
comment on column directory.sources.subject is 'What it is asked about: fid:1, token:<chain>:12, address:0x…, shard:1.';
comment on column directory.sources.fid is 'The account it is asked about; null: it is not asked about one.';
comment on column directory.sources.due_at is 'When it is asked again, at the earliest.';
comment on column directory.sources.last_attempt_at is 'When it was asked last; null: never.';
comment on column directory.sources.last_success_at is 'When it last answered; null: never.';
comment on column directory.sources.last_outcome is 'What the last attempt came to; null: there was none.';
comment on column directory.sources.failures is 'Attempts that failed since it last answered.';
