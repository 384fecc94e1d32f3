-- Amounts of settlements and payments in tokens whose base units are not millionths of a dollar: theirs in base units; the
-- rows have the whole millionths, rounded towards zero, which is what sums are made of. Written as builder codes are.
create table exact_amount (
  id text primary key,
  chain text not null,
  block_number int not null,
  log_index int not null,             -- of the settlement or payment
  base_units numeric(38, 0) not null,
  decimals int not null,              -- base units are 10^-decimals dollars
  unique (chain, block_number, log_index)
);

-- Whether a token of the chain table has other base units than millionths; made of that table whenever a database is
-- migrated. While none has, nothing below looks for amounts.
create or replace function tokens_are_scaled() returns boolean language sql immutable parallel safe as 'select false';

-- Base units that a settlement or payment paid, and its dollars, both exact; `amount` is what its row has.
create function base_units_of(of_chain text, of_block int, of_log int, amount numeric) returns numeric
  language sql stable parallel safe as $$
  select case when tokens_are_scaled() then coalesce(
           (select e.base_units from exact_amount e
             where e.chain = of_chain and e.block_number = of_block and e.log_index = of_log), amount)
         else amount end
$$;
create function dollars_of(of_chain text, of_block int, of_log int, amount numeric) returns numeric
  language sql stable parallel safe as $$
  select case when tokens_are_scaled() then coalesce(
           (select e.base_units * ('1e-' || e.decimals)::numeric from exact_amount e
             where e.chain = of_chain and e.block_number = of_block and e.log_index = of_log), amount * 0.000001)
         else amount * 0.000001 end
$$;

-- Symbol of a token of the chain table, from there as well.
create or replace function token_symbol_of(bytea) returns text language sql immutable parallel safe as 'select ''USDC''::text';
