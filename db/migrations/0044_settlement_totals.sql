-- Beside the hours: what each recipient was paid in all, and by whom. The same settlements as in settlement_hourly, added
-- in the same transaction.

create table settlement_total (
  recipient bytea not null,
  chain text not null,
  overload boolean not null,             -- of the selectors that take the signature as bytes
  last_at timestamptz not null,          -- time of the newest
  n bigint not null,
  amount numeric(38, 0) not null,        -- base units
  primary key (recipient, chain, overload)
);

create table settlement_payer (
  recipient bytea not null,
  payer bytea not null,
  chain text not null,
  overload boolean not null,
  last_at timestamptz not null,
  n bigint not null,
  amount numeric(38, 0) not null,
  primary key (recipient, payer, chain, overload)
);

-- What is rolled up already. No step of the roll-up may come between.
lock table settlement_rollup in exclusive mode;

insert into settlement_payer (recipient, payer, chain, overload, last_at, n, amount)
select recipient, payer, chain, selector not in ('\xe3ee160e', '\xef55bec6'), max(block_timestamp), count(*), sum(amount)
  from settlement s
 where not exists (select from settlement_unrolled u
                    where u.chain = s.chain and s.block_number between u.from_block and u.to_block)
 group by 1, 2, 3, 4;

insert into settlement_total (recipient, chain, overload, last_at, n, amount)
select recipient, chain, overload, max(last_at), sum(n), sum(amount)
  from settlement_payer
 group by 1, 2, 3;
