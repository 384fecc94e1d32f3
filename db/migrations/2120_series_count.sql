-- A point of a series that is being counted in slices.
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
create unlogged table series_count_payer (payer bytea primary key);
create unlogged table series_count_amount (amount bigint primary key, n bigint not null);
