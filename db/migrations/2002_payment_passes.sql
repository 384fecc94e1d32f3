-- Every version that reads blocks reads their payments with them. Where passes over blocks of before have not ended, what
-- they would find would be missing for good.
do $$
begin
  if exists (select from payment_pass where next_block <= to_block) then
    raise exception 'payments of some blocks are not read: run npm run backfill -- --chain <chain> --legs with the program before this one, then migrate again';
  end if;
end $$;
-- squawk-ignore ban-drop-table
drop table payment_pass;
