-- What was signed is public once no service takes it any more: its time may be ahead of when it came.
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
comment on column directory.claims.proof is 'What was signed or published, as JSON; null until 15 minutes after it came and after the time that it names, and of an account that has left the directory.';
