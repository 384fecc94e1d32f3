-- Messages of the social network that say whose an address is, whole, with what checking them came to.
create table farcaster_message (
  fid bigint not null,
  hash bytea not null,             -- as the hub gives it; it is the message's own only when the envelope held
  type text not null,              -- MESSAGE_TYPE_…
  address bytea not null,
  message_time timestamptz not null, -- what its signer wrote; only the future is bounded
  signer bytea,                    -- the app key; null: it has not the form of one
  message json not null,           -- as received
  verdict text not null check (verdict in ('proven', 'signed', 'stated')), -- forged ones are not stored
  envelope text not null check (envelope in ('held', 'unknown')),
  claim text not null check (claim in ('held', 'failed', 'unknown')),
  verification_type smallint,      -- 0: a key signed; 1: a contract wallet; null: a removal, or not known
  verification_chain int,          -- of a contract wallet
  first_seen_at timestamptz not null,
  primary key (fid, hash)
);
create index farcaster_message_address on farcaster_message (fid, address, message_time);

alter table verified_address
  add column message_hash bytea,
  add column verification_type smallint,
  add column verification_chain int,
  add column verdict text;
