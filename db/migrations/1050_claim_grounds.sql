-- Where what a claim rests on can be found by others: the log that added an app key, and whose the account was when asked.
alter table signer_key
  add column added_log json;       -- {block_number, block_hash, tx_hash, log_index, request_fid}; null: off the chain, or not found

create table custody_reading (
  fid bigint primary key,
  address bytea not null,
  block_number bigint not null,
  block_hash bytea not null,
  read_at timestamptz not null
);

-- How hubs stand that are asked about what the followed one says; they are not judged by their totals.
alter table hub_standing add column witness boolean not null default false;
