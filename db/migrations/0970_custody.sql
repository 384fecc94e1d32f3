-- Changes of custody of FIDs, as the chain's IdRegistry reports them. Entity: schema.graphql.
create table fid_custody (
  id text primary key,
  chain text not null,
  fid numeric(78, 0) not null,
  "from" bytea not null,
  "to" bytea not null,
  kind text not null check (kind in ('t', 'r')),   -- transferred, recovered
  block_number int not null,
  log_index int not null,
  block_timestamp timestamptz not null,
  tx_hash bytea not null
);
create index fid_custody_fid on fid_custody (fid, block_number);
create index fid_custody_block on fid_custody (chain, block_number);
