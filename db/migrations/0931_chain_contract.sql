-- The contracts that a chain was indexed with, and from which block: a new one, or an earlier block, leaves rows out that
-- nobody would look for again.
create table chain_contract (
  chain text not null,
  address text not null,               -- lowercase hex
  from_block int not null,
  primary key (chain, address)
);
