-- Of an account that left, its claims stay: that they were, when and how they ended, and the digests of what was said. What
-- names an address would join the account with a chain again. What was signed is public once no service takes it any more:
-- its time may be ahead of when it came.
create or replace view directory.claims as
select fid, method, nonce,
       case when exists (select from public.unlisted u where u.fid = c.fid) then null else signer end as signer,
       '0x' || encode(proof_sha256, 'hex') as proof_sha256, signed_at, claimed_at,
       case when exists (select from public.unlisted u where u.fid = c.fid) then null else verified_addresses end
         as verified_addresses,
       case when exists (select from public.unlisted u where u.fid = c.fid) then null else host_link end as host_link,
       state, checked_at, ended_at, end_reason,
       case when greatest(claimed_at, signed_at) <= now() - interval '15 minutes'
             and not exists (select from public.unlisted u where u.fid = c.fid) then proof::text end as proof
  from public.claim c;

comment on view directory.claims is e'@primaryKey fid,method,nonce\n@foreignKey (fid) references directory.agents (fid)|@fieldName agent|@foreignFieldName claims\n@name claim\nAccepted claims of control, with what was signed or published. Of an account that left: that it claimed, and how that ended.';
comment on column directory.claims.fid is 'The agent’s id in the social network.';
comment on column directory.claims.method is 'eip191, jfs or well-known.';
comment on column directory.claims.nonce is 'Chosen by the claimant; good for one claim.';
comment on column directory.claims.signer is 'Address, app key or host; null: the account has left the directory.';
comment on column directory.claims.proof_sha256 is 'SHA-256 of the proof as received.';
comment on column directory.claims.signed_at is 'Time in what was signed; null: it has none.';
comment on column directory.claims.claimed_at is 'When the claim was accepted.';
comment on column directory.claims.verified_addresses is 'The verified set when it was accepted; null: the account has left the directory.';
comment on column directory.claims.host_link is 'What linked the host to the agent, for well-known; else null.';
comment on column directory.claims.state is 'live, suspended (what it rests on is silent or disputed) or ended.';
comment on column directory.claims.checked_at is 'When all its checks held last; null: not since it was accepted.';
comment on column directory.claims.ended_at is 'When it ended; null: it stands.';
comment on column directory.claims.end_reason is 'withdrawn, withdrawn_by_custody, fid_transferred, fid_recovered, verification_removed, key_removed, manifest_gone or wallet_denies; null: it stands.';
comment on column directory.claims.proof is 'What was signed or published, as JSON; null until 15 minutes after it came and after the time that it names, and of an account that has left the directory.';
