-- What chains said, at a final block, of who may act for a registration; written by its source alone. An account is what an
-- address is there, a name one of ENS that the registration's document claims.
create table control_reading (
  chain text not null,
  agent_id numeric(78, 0) not null,
  input uuid not null,       -- digest of what was asked
  read_at timestamptz not null,
  accounts json not null,    -- [{address, kind, code_hash, delegate, owners, owners_total, threshold, modules, token, block_number, block_timestamp}]
  names json not null,       -- [{name, status, block_number, block_timestamp}]
  binding bytea,             -- contract that holds it and that its metadata names (draft ERC-8217); null: none
  binding_status text,       -- verified, unverified, not_checked
  binding_standard text,     -- erc721, erc1155, erc6909
  token_contract bytea,      -- of the token that it is bound to
  token_id numeric(78, 0),
  master bytea,              -- who holds that token
  binding_block int,
  binding_block_at timestamptz,
  primary key (chain, agent_id)
);
create index control_reading_master on control_reading (master) where master is not null;

alter table agent_control add column read_digest bytea; -- of who commands these, as chains said when all of them had been read; null: they never were
