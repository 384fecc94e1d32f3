-- Where app keys that signed about an address stand: in the KeyRegistry, or off the chain by their custody's signature.
create table signer_key (
  fid bigint not null,
  key bytea not null,
  source text check (source in ('chain', 'offchain')), -- null: nobody has said that it is the FID's
  before_custody boolean not null default false, -- added for somebody who had the FID before its last transfer
  custody_block int,               -- block of the transfer that this was judged by; null: there was none
  checked_at timestamptz,          -- null: not asked yet
  key_add json,                    -- the message that added it off the chain, as received
  key_add_signer bytea,            -- the address that signed for it
  primary key (fid, key)
);

alter table farcaster_message
  add column key text check (key in ('held', 'failed')), -- null: nobody was asked
  add column checked_at timestamptz, -- when the chains were asked
  add column wallet_block bigint,  -- of a contract wallet: at which block it answered, and with which code
  add column wallet_block_hash bytea,
  add column wallet_code_sha256 bytea;
