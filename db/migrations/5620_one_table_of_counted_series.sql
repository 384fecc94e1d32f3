-- Payers and amounts of the series point that is being counted in slices, in one table. A count that was begun goes with the
-- tables that it was collected in, and is begun again.
-- squawk-ignore ban-drop-table
drop table series_count, series_count_payer, series_count_amount;
create unlogged table series_count (
  fid bigint not null,
  chain text not null,
  length text not null,
  start timestamptz not null,
  until timestamptz not null,
  overloads boolean not null,
  addresses bytea[] not null,
  of_chain text not null,
  of_address bytea,
  next_block int not null,
  to_block int not null,
  unique nulls not distinct (of_chain, of_address)
);
create unlogged table series_count_found (
  payer bytea,
  amount bigint,
  n bigint not null,
  unique nulls not distinct (payer, amount),
  check ((payer is null) <> (amount is null))
);
