-- What owners said about their claims besides claiming: withdrawals, and that they want to be listed or not.
create table claim_action (
  fid bigint not null,
  action text not null check (action in ('withdraw', 'unlist', 'relist')),
  method text not null,            -- eip191, jfs, well-known
  nonce text not null,
  proof json not null,             -- as received
  proof_sha256 bytea not null,
  manifest_sha256 bytea,           -- well-known: of the manifest as fetched
  signer text not null,            -- address, app key or host
  by_custody boolean not null,     -- signed by the custody address
  signed_at timestamptz,
  accepted_at timestamptz not null,
  answer json not null,            -- a replay is answered with it
  primary key (fid, action, method, nonce)
);
create unique index claim_action_manifest on claim_action (fid, action, signer, manifest_sha256)
  where manifest_sha256 is not null;

-- Accounts that want to be no agents here. What lies on a chain stays there; what joined it with them goes.
create table unlisted (
  fid bigint primary key,
  since timestamptz not null
);
create trigger unlisted_added after insert on unlisted
  referencing new table as added for each statement execute function note_agents();
create trigger unlisted_removed after delete on unlisted
  referencing old table as removed for each statement execute function note_agents_gone();
