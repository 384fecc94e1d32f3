-- Rankings of agents by what they were paid, as the enrichment job counted them in its last round, and as they were when
-- each of the last days began.

-- The rounds: one row a UTC day, of its first round and its last.
create table ranking_round (
  day date primary key,
  taken_at timestamptz not null,  -- of the first: what ranking_day has of the day
  counted_at timestamptz not null -- of the last
);

create table ranking (
  period text not null,
  measure text not null,                    -- settlements, volume, payers, income or repeat_payers
  chain text not null,                      -- empty: all of them
  own boolean not null,                     -- whether payments from the agent's own addresses count
  rank int not null,
  fid bigint not null,
  settlements bigint not null,
  volume numeric(38, 0) not null,           -- base units
  payers bigint not null,
  newest_at timestamptz,                    -- time of the newest settlement that counts, of any time; null: it earned without one
  income_n bigint not null default 0,
  income numeric(38, 0) not null default 0, -- base units
  repeat_payers bigint not null default 0,
  last_30d bigint not null default 0,       -- settlements that count, counted together with the others
  ever bigint not null default 0,
  primary key (period, measure, chain, own, rank)
);

create table ranking_day (
  day date not null,
  period text not null,
  measure text not null,
  chain text not null,
  own boolean not null,
  fid bigint not null,
  rank int not null,
  primary key (day, period, measure, chain, own, fid)
);

-- What each agent was paid in the windows that rankings are made of, of what is rolled up: derived agent by agent. Amounts
-- in base units.
create table agent_figure (
  fid bigint not null,
  chain text not null,    -- empty: all of them
  own boolean not null,   -- whether payments from the agent's own addresses count
  newest_at timestamptz,  -- time of the newest settlement that counts, of any time; null: it earned without one
  last_7d bigint not null,
  last_7d_amount numeric(38, 0) not null,
  last_30d bigint not null,
  last_30d_amount numeric(38, 0) not null,
  ever bigint not null,
  ever_amount numeric(38, 0) not null,
  last_7d_payers bigint not null,
  last_30d_payers bigint not null,
  ever_payers bigint not null,
  earned_last_7d bigint not null,
  earned_last_7d_amount numeric(38, 0) not null,
  earned_last_30d bigint not null,
  earned_last_30d_amount numeric(38, 0) not null,
  earned_ever bigint not null,
  earned_ever_amount numeric(38, 0) not null,
  primary key (fid, chain, own)
) with (fillfactor = 85);
-- The list of agents by what they earned, without those that earned nothing. Refunds can leave less than nothing of 30 days.
create index agent_figure_most_earned on agent_figure (greatest(earned_last_30d_amount, 0) desc, earned_ever_amount desc, fid desc)
 where chain = '' and not own and earned_ever_amount > 0;

-- Who pays each agent, and who of them comes back: payers that are not the agent itself, without what goes round, by
-- payments of every kind in blocks that are rolled up. Derived agent by agent.
create table agent_demand (
  fid bigint not null,
  chain text not null,                    -- empty: all of them
  payers bigint not null,
  repeat_last_7d bigint not null,         -- those whose newest payment is in the window, and was not their first
  repeat_last_30d bigint not null,
  repeat_ever bigint not null,
  new_last_30d bigint not null,           -- those whose first payment is in the window
  returned bigint not null,               -- those whose newest payment is a day or more behind their first
  median_gap bigint,                      -- seconds: of those who paid again, the mean time between payments in the middle; null: nobody did
  amount numeric(78, 0) not null,         -- base units that all of them paid
  largest_amount numeric(78, 0) not null, -- of the one who paid most
  derived_in timestamptz not null default '-infinity', -- beginning of the hour in which it was found like this
  primary key (fid, chain)
) with (fillfactor = 85);

-- What the next two are kept for: agents by the addresses they had when counting their payers began.
create table figure_derivation (
  fid bigint primary key,
  addresses bytea[] not null,
  overloads boolean not null, -- whether those who used an overload alone are counted too
  counted boolean not null,   -- false: agent_payer_hour has nothing of it yet
  derived_in timestamptz not null default '-infinity' -- beginning of the hour in which agent_figure was derived last
);
create index figure_derivation_addresses on figure_derivation using gin (addresses);

-- How many paid an agent last in an hour, of what is rolled up: how many paid in a window is their sum. So an agent with
-- millions of payers moves by those who paid again, and by none when an hour leaves a window.
create table agent_payer_hour (
  fid bigint not null,
  chain text not null,       -- empty: all of them
  hour timestamptz not null, -- its beginning
  payers bigint not null,
  primary key (fid, chain, hour)
) with (fillfactor = 85);

-- Pairs with such an agent that came or changed since: when the pair had last paid before. What is in settlement_payer
-- with these taken back is what agent_payer_hour was made of. Appended in the statements that move the sums, and deleted by who derives.
create table payer_move (
  seq bigint generated always as identity primary key,
  fid bigint not null,
  recipient bytea not null,
  payer bytea not null,
  chain text not null,
  overload boolean not null,
  before timestamptz,   -- null: the pair is new
  back boolean not null -- it went, or last paid earlier than before: the agent is counted again
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);
create index payer_move_fid on payer_move (fid);

-- How many paid in a day, week or month that is over, and the amount in the middle, of those paid so often that nobody
-- can be made to wait while it is counted: as the enrichment job counted it. It holds for so many settlements alone.
create table series_payers (
  fid bigint not null,        -- 0: everybody
  chain text not null,        -- empty: all
  length text not null check (length in ('day', 'week', 'month')),
  start timestamptz not null,
  overloads boolean not null, -- whether those who used an overload alone are counted too
  addresses bytea[] not null, -- of the agent; of everybody none
  settlements bigint not null,
  payers bigint not null,
  median numeric not null,
  primary key (fid, chain, length, start)
);

-- The point of a series that is being counted in slices, because one statement would read too many settlements: a row for each
-- range of blocks that is left to read. Not logged, like what was collected so far: after a crash both are empty.
create unlogged table series_count (
  fid bigint not null,
  chain text not null,
  length text not null,
  start timestamptz not null,
  until timestamptz not null,
  overloads boolean not null,
  addresses bytea[] not null,
  of_chain text not null,
  of_address bytea,         -- null: of everybody
  next_block int not null,
  to_block int not null,    -- inclusive
  unique nulls not distinct (of_chain, of_address)
);
-- What was collected of the point: a row for each payer, and one for each amount.
create unlogged table series_count_found (
  payer bytea,               -- null: the row is of an amount
  amount bigint,             -- null: the row is of a payer
  n bigint not null,         -- settlements of the amount; of a payer 1
  unique nulls not distinct (payer, amount),
  check ((payer is null) <> (amount is null))
);

-- Sums over the whole directory, kept in many small parts, so that nobody reads all of it to tell them: a part is counted
-- again from its rows when one of them has moved. Its name is the key of the kind `totals` in db/due/kinds.ts.
create table directory_sum (
  part text primary key, -- agents:12, addresses:0a3, supply:base:7
  agents bigint not null default 0,
  claimed bigint not null default 0,
  cross_chain bigint not null default 0, -- agents with current records on two chains and more
  addresses bigint not null default 0,   -- verified by an agent, or once holders of an identity
  last_24h bigint not null default 0,    -- settlements of those that an agent verifies, as recipient_counts has them
  last_7d bigint not null default 0,
  last_30d bigint not null default 0,
  ever bigint not null default 0,
  chain text,                            -- of identities
  identities bigint not null default 0   -- not burned
);
