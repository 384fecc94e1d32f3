create or replace view directory.claim_events as
select fid, seq, method, nonce, kind, at,
       case when exists (select from public.unlisted u where u.fid = c.fid) then null else evidence::text end as evidence,
       encode(previous, 'hex') as previous_sha256, encode(sha256, 'hex') as sha256
  from public.claim_event c;

comment on view directory.claim_events is e'@primaryKey fid,seq\n@foreignKey (fid) references directory.agents (fid)|@fieldName agent|@foreignFieldName claimEvents\n@name claim_event\nWhat became of claims, one row an event: appended to and never changed. The events of an agent are a chain of hashes.';
comment on column directory.claim_events.fid is 'The agent’s id in the social network.';
comment on column directory.claim_events.seq is 'Number of the event, from 1 for each agent.';
comment on column directory.claim_events.method is 'Of the claim: eip191, jfs or well-known.';
comment on column directory.claim_events.nonce is 'Of the claim.';
comment on column directory.claim_events.kind is 'claimed, suspended, resumed or ended.';
comment on column directory.claim_events.at is 'When it happened; later than the event before.';
comment on column directory.claim_events.evidence is 'What it rests on, as canonical JSON (RFC 8785); null: the account has left the directory.';
comment on column directory.claim_events.previous_sha256 is 'sha256 of the agent’s event before, in hex; null: this is the first.';
comment on column directory.claim_events.sha256 is 'SHA-256, in hex, of {at, evidence, fid, kind, method, nonce, previous, seq} as canonical JSON.';
