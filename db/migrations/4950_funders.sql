alter table payment add column subject bytea;
alter table payment add column funder bytea;
create or replace view payment_summed as select * from payment p where is_summed(p);

-- Who put money there that a job or channel pays out: of what came before, the most at once; null: nobody is known to have.
create function funder_of(p payment) returns bytea language sql stable as $$
  select f.payer from payment f
   where f.subject = p.subject and f.chain = p.chain
     and f.kind = case p.kind when 'job_release' then 'job_funding' else 'batch_deposit' end
     and (f.block_number, f.log_index) < (p.block_number, p.log_index)
   order by f.gross desc, f.block_number, f.log_index
   limit 1
$$;

-- The row with what its funding tells. That is in another transaction, which may be loaded later than this one, and by somebody
-- else at the same time: so whoever writes either holds a lock of the chain until it commits.
create function with_funder(p payment) returns payment language plpgsql as $$
declare
  found_funder bytea := funder_of(p);
begin
  if p.kind = 'job_release' then
    p.payer := coalesce(found_funder, substr(p.subject, 1, 20));
  else
    p.funder := nullif(found_funder, p.payer);
  end if;
  return p;
end $$;

create function find_funder() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(8013, hashtext(new.chain));
  return with_funder(new);
end $$;
create trigger payment_funder before insert on payment
  for each row when (new.subject is not null and new.kind in ('job_release', 'batch_claim')) execute function find_funder();

-- What was paid out of a job or channel behind a funding that came or went, and is somebody else's money thereby, is written
-- again: sums and marks follow rows that come and go.
create function follow_funding() returns trigger language plpgsql as $$
declare
  moved payment := coalesce(new, old);
begin
  perform pg_advisory_xact_lock(8013, hashtext(moved.chain));
  with gone as (
    delete from payment p
     where p.subject = moved.subject and p.chain = moved.chain and p.kind in ('job_release', 'batch_claim')
       and (p.block_number, p.log_index) > (moved.block_number, moved.log_index)
       and with_funder(p) is distinct from p
    returning p.*
  )
  insert into payment select * from gone;
  return null;
end $$;
create trigger payment_funded after insert on payment
  for each row when (new.subject is not null and new.kind in ('job_funding', 'batch_deposit')) execute function follow_funding();
create trigger payment_unfunded after delete on payment
  for each row when (old.subject is not null and old.kind in ('job_funding', 'batch_deposit')) execute function follow_funding();
