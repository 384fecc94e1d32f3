-- Since when an address is an agent's own, for payments and feedback alike.
alter table income_owner
  add column because text not null default 'verified',
  add column from_at timestamptz not null default '-infinity',
  add column to_at timestamptz not null default 'infinity';

-- When an address first paid another something in a time, in blocks that are rolled up; null: it did not. For payers who had
-- paid before that time already: the sums by payer have the first payment of all. Readers of the SQL contract may ask it.
create function first_paid_within(of_chain text, of_payee bytea, by_payer bytea, since timestamptz, before timestamptz)
  returns timestamptz language sql stable security definer set search_path = public, pg_temp as $$
  select least(
    (select min(s.block_timestamp) from settlement s
      where s.chain = of_chain and s.recipient = of_payee and s.payer = by_payer and s.amount > 0
        and s.block_timestamp >= since and s.block_timestamp < before
        and not exists (select from settlement_unrolled u
                         where u.chain = of_chain and s.block_number between u.from_block and u.to_block)),
    (select min(p.block_timestamp) from payment_summed p
      where p.chain = of_chain and p.payee = of_payee and p.payer = by_payer
        and p.block_timestamp >= since and p.block_timestamp < before))
$$;
