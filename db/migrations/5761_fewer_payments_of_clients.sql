-- Fewer payments are looked at for when a client first paid, so that a page of feedback of clients that share a payee reads few rows.
create or replace function first_other_within(of_fid bigint, of_chain text, of_payee bytea, by_client bytea, since timestamptz, before timestamptz)
  returns timestamptz language sql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
  select p.block_timestamp
    from (select p.*
            from ((select * from payment
                    where payee = of_payee and block_timestamp >= since and block_timestamp < before and net <> 0
                    order by block_timestamp, chain, block_number, log_index
                    limit 500)
                   union all
                  (select * from payment where payer = by_client and net <> 0 order by block_number desc limit 700)
                   union all
                  (select * from payment where funder = by_client order by block_number desc limit 700)) p
           where p.chain = of_chain and p.payee = of_payee and by_client in (p.payer, p.funder) and p.net > 0
             and p.block_timestamp >= since and p.block_timestamp < before
           order by p.block_timestamp
          offset 0) p
   where is_kept_from_others(p::payment, of_fid)
   order by p.block_timestamp
   limit 1
$$;
