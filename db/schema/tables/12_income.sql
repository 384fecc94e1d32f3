-- Income of agents: what their addresses were paid, by what is known of the payer and of the sender. Written by the
-- enrichment job, hour by hour, from final blocks: beside settlements what forwarders passed on and what Permit2 proxies
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

-- The same over all agents, kept by whatever moves it.
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

-- What each agent was paid without what it paid itself, kept by whatever moves its hours.
create table income_agent (
  fid bigint not null,
  chain text not null,
  n bigint not null,
  amount numeric(38, 0) not null, -- base units
  primary key (fid, chain)
);

-- Adds the hours that came to both, and takes off those that went.
create function sum_income() returns trigger language plpgsql as $$
declare
  moved text := concat_ws(' union all ',
    case when tg_op <> 'DELETE' then 'select *, 1 as sign from added' end,
    case when tg_op <> 'INSERT' then 'select *, -1 as sign from removed' end);
begin
  execute format($sum$
    insert into income_total as t (chain, kind, flag, x402, n, amount, dust_n, dust_amount, other_n)
    select chain, kind, flag, x402, sum(sign * n), sum(sign * amount), sum(sign * dust_n), sum(sign * dust_amount),
           sum(sign * other_n)
      from (%s) moved where not passed_on
     group by 1, 2, 3, 4 order by 1, 2, 3, 4
        on conflict (chain, kind, flag, x402) do update
       set n = t.n + excluded.n, amount = t.amount + excluded.amount, dust_n = t.dust_n + excluded.dust_n,
           dust_amount = t.dust_amount + excluded.dust_amount, other_n = t.other_n + excluded.other_n
  $sum$, moved);
  execute format($sum$
    insert into income_agent as t (fid, chain, n, amount)
    select fid, chain, sum(sign * n), sum(sign * amount)
      from (%s) moved where flag = 'none'
     group by 1, 2 order by 1, 2
        on conflict (fid, chain) do update set n = t.n + excluded.n, amount = t.amount + excluded.amount
  $sum$, moved);
  return null;
end $$;
create trigger income_hour_added after insert on income_hour
  referencing new table as added for each statement execute function sum_income();
create trigger income_hour_changed after update on income_hour
  referencing old table as removed new table as added for each statement execute function sum_income();
create trigger income_hour_removed after delete on income_hour
  referencing old table as removed for each statement execute function sum_income();

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
