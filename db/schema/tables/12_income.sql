-- Income of agents: what their addresses were paid, by what is known of the payer and of the sender. Written by the
-- enrichment job, hour by hour, from final blocks: besides settlements what forwarders passed on and what Permit2 proxies
-- paid.

-- Addresses whose payments are an agent's income: those that it verifies now, with all they ever received, and wallets
-- that the registrations it holds name, on the registration's chain and for as long as it names them.
create table income_address (
  fid bigint not null,
  address bytea not null,
  chain text not null,          -- empty: every chain
  from_at timestamptz not null, -- inclusive; -infinity: always
  to_at timestamptz not null,   -- exclusive; infinity: still
  primary key (fid, address, chain, from_at)
);
create index income_address_address on income_address (address);

-- Addresses that are or were the agent's own, as far as the directory can see: from `from_at` on, a payment from one is no
-- income, and feedback from one is the agent's own. What an address got before it was verified is income, so verified ones
-- count from the beginning. An owner may name anybody an operator, without being asked back: a payment from such a one is no
-- income for as long as it is named, and its feedback is not the agent's own.
create table income_owner (
  fid bigint not null,
  address bytea not null,
  because text not null default 'verified',         -- verified, wallet, operator, holder: which held a registration before the agent
  from_at timestamptz not null default '-infinity', -- inclusive; verified: -infinity
  to_at timestamptz not null default 'infinity',    -- exclusive: end of the time it was named or held
  primary key (fid, address, because, from_at)
);
-- Agents that an address is or was a wallet of.
create index income_owner_address on income_owner (address);

-- What such addresses were paid in an hour.
create table income_hour (
  fid bigint not null,
  hour timestamptz not null,         -- its beginning
  recipient bytea not null,
  chain text not null,
  kind text not null,                -- eip3009_vrs, eip3009_bytes, and those of payment
  flag text not null,                -- self, same_owner, or none: what the payer is to the agent
  x402 boolean not null,             -- sent by a known facilitator, or told by builder codes
  first_at timestamptz not null,     -- times of the oldest and the newest
  last_at timestamptz not null,
  n bigint not null,
  amount numeric(38, 0) not null,    -- base units
  dust_n bigint not null,            -- those of them below a thousandth of a dollar
  dust_amount numeric(38, 0) not null,
  -- An address that the money went through in the same transaction is another agent's, whose income it is too. In sums over
  -- all agents it is left out, so that money that came in once is there once.
  passed_on boolean not null default false,
  other_n bigint not null default 0, -- payments in tokens without a dollar figure, with nothing in the amounts
  primary key (fid, hour, recipient, chain, kind, flag, x402, passed_on)
);
create index income_hour_recipient on income_hour (recipient, chain, hour);

-- Running sums of payments of escrows of which something went back, a row for each of theirs.
create table escrow_part (
  subject bytea not null,
  chain text not null,
  place bigint not null,           -- number of the block << 32, and the log's index in it: as payment has them
  block_timestamp timestamptz not null,
  amount numeric(78, 0) not null,  -- what came to the payee, or what a refund took of what was left, below zero
  paid numeric(78, 0) not null,    -- all that came until then
  refunded numeric(78, 0) not null, -- all that refunds took of that
  primary key (subject, chain, place)
);
-- What had come by a time from which, or up to which, an address is an agent's.
create index escrow_part_time on escrow_part (subject, chain, block_timestamp, place);

-- The same over all agents, moved in the statement that writes the hours.
create table income_total (
  chain text not null,
  kind text not null,
  flag text not null,
  x402 boolean not null,
  n bigint not null,
  amount numeric(38, 0) not null,
  dust_n bigint not null,
  dust_amount numeric(38, 0) not null,
  other_n bigint not null default 0,
  primary key (chain, kind, flag, x402)
);

-- What each agent was paid without what it paid itself, moved in the same statement.
create table income_agent (
  fid bigint not null,
  chain text not null,
  n bigint not null,
  amount numeric(38, 0) not null, -- base units
  primary key (fid, chain)
);

-- Who sent settlements in the hours that are summed up, and from when to when: who is a
-- facilitator decides what is evidence, so an account that gets or loses a name moves the hours it sent in.
create table income_sender (
  facilitator bytea not null,
  recipient bytea not null,
  chain text not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (facilitator, recipient, chain)
);
