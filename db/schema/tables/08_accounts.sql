-- Accounts of the social network: the addresses they verify, what that rests on, their profiles and whom they follow.

-- Verifications of protocol Ethereum, as history. An open row (ended_at null) is a live one.
create table verified_address (
  fid bigint not null,
  address bytea not null,
  -- Of accounts that have to do with no registration a sweep stores what they verify and not when, which costs a request
  -- each: such a row has -infinity, until the account is read by itself.
  verified_at timestamptz not null,
  ended_at timestamptz,
  observed_at timestamptz not null default now(), -- when the row became what it is: an answer asked for earlier is older news
  message_hash bytea, -- of the message that verifies it; this and the next three: farcaster_message
  verification_type smallint,
  verification_chain int,
  verdict text,
  -- It ended because the network pruned it, which nobody decided. What it says of others is not to be relied on.
  pruned boolean not null default false,
  -- Since when an address counts as the account's, where nobody has said when it was verified; null: verified_at says it.
  seen_from timestamptz,
  primary key (fid, address, verified_at),
  check (ended_at >= verified_at)
);
create unique index verified_address_live on verified_address (fid, address) where ended_at is null;
create index verified_address_address on verified_address (address, fid);

-- The address of a contract wallet may be somebody else's on another chain than the one its verification names. What it
-- holds and receives there counts, and is marked.
create function wallet_chain_of(verification_type smallint, verification_chain int, chain text) returns text
  language sql immutable parallel safe
  as $$ select case when $1 = 1 and $2 <> public.chain_id_of($3) then 'other' end $$;

-- Messages of the social network that say whose an address is, whole, with what checking them came to.
create table farcaster_message (
  fid bigint not null,
  hash bytea not null,                        -- as the hub gives it; it is the message's own only when the envelope held
  type text not null,                         -- MESSAGE_TYPE_…
  address bytea not null,
  message_time timestamptz not null,          -- what its signer wrote; only the future is bounded
  signer bytea,                               -- the app key; null: it has not the form of one
  message json not null,                      -- as received
  verdict text not null check (verdict in ('proven', 'signed', 'stated')), -- forged ones are not stored
  envelope text not null check (envelope in ('held', 'unknown')),
  claim text not null check (claim in ('held', 'failed', 'unknown')),
  verification_type smallint,                 -- 0: a key signed; 1: a contract wallet; null: a removal, or not known
  verification_chain int,                     -- of a contract wallet
  first_seen_at timestamptz not null,
  key text check (key in ('held', 'failed')), -- null: nobody was asked
  checked_at timestamptz,                     -- when the chains were asked
  wallet_block bigint,                        -- of a contract wallet: at which block it answered, and with which code
  wallet_block_hash bytea,
  wallet_code_sha256 bytea,
  primary key (fid, hash)
);
create index farcaster_message_address on farcaster_message (fid, address, message_time);

-- What other hubs say about the messages that addresses rest on: their last answers, as long as they count.
create table verification_witness (
  fid bigint not null,
  message_hash bytea not null,
  url text not null,         -- of the hub
  has boolean not null,
  missing_since timestamptz, -- first of its answers in a row without the message
  disputed boolean not null, -- asked again, and still without it
  checked_at timestamptz not null,
  primary key (fid, message_hash, url)
);

-- Where app keys that signed about an address stand: in the KeyRegistry, or off the chain by their custody's signature.
create table signer_key (
  fid bigint not null,
  key bytea not null,
  source text check (source in ('chain', 'offchain')), -- null: nobody has said that it is the FID's
  before_custody boolean not null default false, -- added for somebody who had the FID before its last transfer
  custody_block int,          -- block of the transfer that this was judged by; null: there was none
  checked_at timestamptz,     -- null: not asked yet
  key_add json,               -- the message that added it off the chain, as received
  key_add_signer bytea,       -- the address that signed for it
  -- The log that added it: {block_number, block_hash, tx_hash, log_index, request_fid}. Null: off the chain, or not found.
  added_log json,
  -- A message that removes it off the chain: what the key signed before stays, it signs nothing any more.
  key_remove json,            -- as received
  key_remove_signer bytea,    -- the address that signed for it; null: the key itself
  key_removed_at timestamptz, -- the time that its signer wrote; null: it was not removed so
  -- When that message was first read here; null: there is none. A message of the key that came later counts
  -- as one of after the removal, whatever time its signer wrote.
  key_remove_seen_at timestamptz,
  removed boolean,            -- what the registry says at its final block; null: it was not asked
  -- The log that removed it: {block_number, block_hash, tx_hash, log_index}. Null: not removed, or not found.
  removed_log json,
  -- Whether the registry's final block has the log that added an app key: until then a reorg may undo or move it. False
  -- without a source: the chain had the log and has undone it. Null: added off the chain, or not asked since this is noted.
  added_final boolean,
  primary key (fid, key)
);

-- Whose an account with such a key was when the chain was asked last.
create table custody_reading (
  fid bigint primary key,
  address bytea not null,
  block_number bigint not null,
  block_hash bytea not null,
  read_at timestamptz not null
);

-- Changes of custody of FIDs, as the chain's IdRegistry reports them. Entity: schema.graphql.
create table fid_custody (
  id text primary key,
  chain text not null,
  fid numeric(78, 0) not null,
  "from" bytea not null,
  "to" bytea not null,
  kind text not null check (kind in ('t', 'r')), -- transferred, recovered
  block_number int not null,
  log_index int not null,
  block_timestamp timestamptz not null,
  tx_hash bytea not null
);
create index fid_custody_fid on fid_custody (fid, block_number);
create index fid_custody_block on fid_custody (chain, block_number);

-- What each hub said about itself when it was last believed, and why it is not now: for all processes of the job.
create table hub_standing (
  url text primary key,
  checked_at timestamptz not null,
  accounts bigint,                       -- totals when it was last believed; null: it does not tell
  messages bigint,
  doubt text,                            -- null: it is believed
  doubted_since timestamptz,
  witness boolean not null default false, -- asked about what the followed one says; not judged by its totals
  followed_since timestamptz             -- null: it is not the one that is followed
);

-- Accounts that an answer left without a verified address: only a second answer, an hour later, ends what was known.
create table emptied_account (
  fid bigint primary key,
  first_empty_at timestamptz not null
);

create table social_profile (
  fid bigint primary key,
  handle text,
  display_name text,
  bio text,
  pfp_url text,
  profile_url text,
  github text,
  twitter text,
  last_message_at timestamptz,
  updated_at timestamptz not null,
  -- What shows that the handle is the account's, whatever the followed hub says.
  handle_owner bytea,  -- address that the name server signed to have the handle; null: it signed nothing
  handle_witness text, -- another hub that says whose the handle is; null: none does
  -- Verified addresses of Solana: [{address, verified_at, message_hash}], sorted by address.
  other_addresses jsonb not null default '[]'
);

-- Whom agents follow, the newest first: of them those in the index are edges.
create table social_follow (
  fid bigint primary key,
  targets bigint[] not null,
  followed_at timestamptz[] not null
);
-- Who follows an agent that has just come into the index.
create index social_follow_targets on social_follow using gin (targets);
