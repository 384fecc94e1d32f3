-- Of an account that left, its claims stay: that they were, when and how they ended, and the digests of what was said. What
-- names an address would join the account with a chain again.
create or replace view directory.claims as
select fid, method, nonce,
       case when exists (select from public.unlisted u where u.fid = c.fid) then null else signer end as signer,
       '0x' || encode(proof_sha256, 'hex') as proof_sha256, signed_at, claimed_at,
       case when exists (select from public.unlisted u where u.fid = c.fid) then null else verified_addresses end
         as verified_addresses,
       case when exists (select from public.unlisted u where u.fid = c.fid) then null else host_link end as host_link,
       state, checked_at, ended_at, end_reason,
       case when claimed_at <= now() - interval '15 minutes'
             and not exists (select from public.unlisted u where u.fid = c.fid) then proof::text end as proof
  from public.claim c;
comment on column directory.claims.signer is 'Address, app key or host; null: the account has left the directory.';
comment on column directory.claims.verified_addresses is 'The verified set when it was accepted; null: the account has left the directory.';
comment on column directory.claims.proof is 'What was signed or published, as JSON; null in the first 15 minutes, and of an account that has left the directory.';

create or replace view directory.claim_events as
select fid, seq, method, nonce, kind, at,
       case when exists (select from public.unlisted u where u.fid = c.fid) then null else evidence::text end as evidence,
       encode(previous, 'hex') as previous_sha256, encode(sha256, 'hex') as sha256
  from public.claim_event c;
comment on column directory.claim_events.evidence is 'What it rests on, as canonical JSON (RFC 8785); null: the account has left the directory.';
comment on view directory.claims is e'@primaryKey fid,method,nonce\n@foreignKey (fid) references directory.agents (fid)|@fieldName agent|@foreignFieldName claims\n@name claim\nAccepted claims of control, with what was signed or published. Of an account that left: that it claimed, and how that ended.';
