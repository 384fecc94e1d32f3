-- A token may be listed from a block on: what was paid in it before is in no sum, and was counted as dollars when sums were
-- made anew.
create or replace view payment_summed as
select p.*
  from payment p
 where p.net > 0
   and exists (select from chain_contract c
                where c.chain = p.chain and c.address = '0x' || encode(p.token, 'hex') and c.from_block <= p.block_number)
   and not exists (select from settlement_unrolled u
                    where u.chain = p.chain and p.block_number between u.from_block and u.to_block);
