-- Rankings of agents by what they were paid, as the enrichment job counted them in its last round, and as they were when
-- each of the last days began.

-- The rounds: one row a UTC day, of its first round and its last.
create table ranking_round (
  day date primary key,
  taken_at timestamptz not null,         -- of the first: what ranking_day has of the day
  counted_at timestamptz not null        -- of the last
);

create table ranking (
  period text not null,
  measure text not null,                 -- settlements, volume or payers
  chain text not null,                   -- empty: all of them
  own boolean not null,                  -- whether payments from the agent's own addresses count
  rank int not null,
  fid bigint not null,
  settlements bigint not null,
  volume numeric(38, 0) not null,        -- base units
  payers bigint not null,
  newest_at timestamptz not null,        -- time of the newest settlement that counts, of any time
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
