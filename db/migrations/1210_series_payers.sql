-- How many paid in a day, week or month that is over, and the amount in the middle, of those paid so often that nobody
-- can be made to wait while it is counted: as the enrichment job counted it. It holds for so many settlements alone.
create table series_payers (
  fid bigint not null,                   -- 0: everybody
  chain text not null,                   -- empty: all
  length text not null check (length in ('day', 'week', 'month')),
  start timestamptz not null,
  overloads boolean not null,            -- whether those who used an overload alone are counted too
  addresses bytea[] not null,            -- of the agent; of everybody none
  settlements bigint not null,
  payers bigint not null,
  median numeric not null,
  primary key (fid, chain, length, start)
);
