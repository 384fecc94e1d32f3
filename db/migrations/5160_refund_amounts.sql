-- Base units that a settlement or payment paid, and its dollars, both exact; `amount` is what its row has, or what a
-- refund takes off income. As their owner, because readers of the views may not read the table; who calls them for many
-- rows asks first whether tokens are scaled, which costs nothing.
create or replace function base_units_of(of_chain text, of_block int, of_log int, amount numeric) returns numeric
  language sql stable parallel safe security definer set search_path = public, pg_temp as $$
  select case when tokens_are_scaled() then coalesce(
           (select case when amount < 0 and amount <> trunc(e.base_units * ('1e' || 6 - e.decimals)::numeric)
                          then trunc(amount * ('1e' || e.decimals - 6)::numeric)
                        else e.base_units end
              from exact_amount e
             where e.chain = of_chain and e.block_number = of_block and e.log_index = of_log), amount)
         else amount end
$$;
create or replace function dollars_of(of_chain text, of_block int, of_log int, amount numeric) returns numeric
  language sql stable parallel safe security definer set search_path = public, pg_temp as $$
  select case when tokens_are_scaled() then coalesce(
           (select case when amount < 0 and amount <> trunc(e.base_units * ('1e' || 6 - e.decimals)::numeric)
                          then amount * 0.000001
                        else e.base_units * ('1e-' || e.decimals)::numeric end
              from exact_amount e
             where e.chain = of_chain and e.block_number = of_block and e.log_index = of_log), amount * 0.000001)
         else amount * 0.000001 end
$$;
