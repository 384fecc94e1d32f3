-- Addresses that were approved for a token, and operators that owners named for all of their tokens: who else could change
-- a registration. A Transfer ends the token's approval without an event. A chain that was indexed before these tables were
-- there has those of later blocks alone; taking it back (npm run reset) brings the others.
create table registration_approval (
  id text primary key,
  chain text not null,
  agent_id numeric(78, 0) not null,
  owner bytea not null,
  approved bytea, -- null: taken back
  block_number int not null,
  log_index int not null,
  block_timestamp timestamptz not null,
  tx_hash bytea not null,
  unique (chain, agent_id, block_number, log_index)
);
create index registration_approval_block on registration_approval (chain, block_number);

create table registration_operator (
  id text primary key,
  chain text not null,
  owner bytea not null,
  operator bytea not null,
  approved boolean not null,
  block_number int not null,
  log_index int not null,
  block_timestamp timestamptz not null,
  tx_hash bytea not null
);
create index registration_operator_owner on registration_operator (owner, chain, block_number, log_index);
create index registration_operator_operator on registration_operator (operator, chain, owner);
create index registration_operator_block on registration_operator (chain, block_number);
