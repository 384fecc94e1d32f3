-- What becomes of claims, for readers of the SQL contract. Accounts that left are in no view that joins them with a chain.
create or replace view directory.claims as
select fid, method, nonce, signer, '0x' || encode(proof_sha256, 'hex') as proof_sha256, signed_at, claimed_at,
       verified_addresses, host_link, state, checked_at, ended_at, end_reason,
       case when claimed_at <= now() - interval '15 minutes' then proof::text end as proof
  from public.claim;
comment on column directory.claims.state is 'live, suspended (what it rests on is silent or disputed) or ended.';
comment on column directory.claims.checked_at is 'When all its checks held last; null: not since it was accepted.';
comment on column directory.claims.ended_at is 'When it ended; null: it stands.';
comment on column directory.claims.end_reason is 'withdrawn, withdrawn_by_custody, fid_transferred, fid_recovered, verification_removed, key_removed, manifest_gone or wallet_denies; null: it stands.';
comment on column directory.claims.proof is 'What was signed or published, as JSON; null in the first 15 minutes.';

create view directory.claim_events as
select fid, seq, method, nonce, kind, at, evidence::text as evidence, encode(previous, 'hex') as previous_sha256,
       encode(sha256, 'hex') as sha256
  from public.claim_event;
comment on view directory.claim_events is e'@primaryKey fid,seq\n@foreignKey (fid) references directory.agents (fid)|@fieldName agent|@foreignFieldName claimEvents\n@name claim_event\nWhat became of claims, one row an event: appended to and never changed. The events of an agent are a chain of hashes.';
comment on column directory.claim_events.fid is 'The agent’s id in the social network.';
comment on column directory.claim_events.seq is 'Number of the event, from 1 for each agent.';
comment on column directory.claim_events.method is 'Of the claim: eip191, jfs or well-known.';
comment on column directory.claim_events.nonce is 'Of the claim.';
comment on column directory.claim_events.kind is 'claimed, suspended, resumed or ended.';
comment on column directory.claim_events.at is 'When it happened; later than the event before.';
comment on column directory.claim_events.evidence is 'What it rests on, as canonical JSON (RFC 8785).';
comment on column directory.claim_events.previous_sha256 is 'sha256 of the agent’s event before, in hex; null: this is the first.';
comment on column directory.claim_events.sha256 is 'SHA-256, in hex, of {at, evidence, fid, kind, method, nonce, previous, seq} as canonical JSON.';

create or replace view directory.addresses as
select fid, '0x' || encode(address, 'hex') as address, verified_at, ended_at, address as address_bytes, verdict,
       verification_type::int as verification_type, verification_chain as verification_chain_id,
       '0x' || encode(message_hash, 'hex') as message_hash
  from public.verified_address v
 where not exists (select from public.unlisted u where u.fid = v.fid);
comment on column directory.addresses.verdict is 'What checking its message came to: proven, signed or stated; null: it was not seen yet.';
comment on column directory.addresses.verification_type is '0: a key signed; 1: a contract wallet; null: not known.';
comment on column directory.addresses.verification_chain_id is 'Chain of the contract wallet; null: it is none, or not known.';
comment on column directory.addresses.message_hash is 'Hash of the message that verified it; null: it was not seen yet.';
