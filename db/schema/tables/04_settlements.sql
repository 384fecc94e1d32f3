-- Settlements, other payments and unpaid authorizations, written by the chain processors and the backfill.

-- Columns from wide to narrow, so that a row carries no padding: about 2e8 rows on the busiest chain alone. Its partitions, one or more a
-- chain, are made of the chain table whenever a database is migrated, and by processors as their chains grow. None takes what
-- no other does: it would keep partitions from being taken out while the table is read.
create table settlement (
  amount bigint not null,
  block_timestamp timestamptz not null,
  block_number int not null,
  log_index int not null,
  chain text not null,
  selector_source "char" not null,
  selector bytea not null,
  token bytea not null,
  payer bytea not null,
  recipient bytea not null,
  facilitator bytea not null,
  payment_nonce bytea not null,
  tx_hash bytea not null,
  id text,
  primary key (chain, block_number, log_index)
) partition by list (chain);
create index settlement_recipient on settlement (recipient, block_number desc);
-- Undoing a hot block deletes by id; rows of final blocks have none and are not in this index.
create index settlement_hot on settlement (id) where id is not null;
-- Settlements of everybody by who signed them, by who sent them and by transaction.
create index settlement_payer_block on settlement (payer, block_number desc);
create index settlement_facilitator_block on settlement (facilitator, block_number desc);
create index settlement_tx on settlement using hash (tx_hash);

create table unpaid_authorization (
  id text primary key,
  chain text not null,
  block_number int not null,
  token bytea not null,
  count int not null
);

-- SETTLEMENT_SCOPE=verified: settlements of known recipients alone are kept. Written by the chains' processors.

-- Chains that are indexed so. No row: the settlements of every recipient are kept.
create table settlement_scope (
  chain text primary key,
  complete_to int not null, -- up to this block those of every recipient are there; -1: nowhere
  own_from int not null     -- from this block on the processor reads them as it goes
);

-- Recipients that are or were known, and which blocks' settlements of theirs are there: those below next_block, loaded
-- by recipient, and those above to_block, written as the processor goes, up to ended_block.
create table known_recipient (
  chain text not null,
  address bytea not null,
  next_block int not null,
  to_block int not null,
  ended_block int, -- null: a live verification names the address
  primary key (chain, address)
);
create index known_recipient_waiting on known_recipient (chain, next_block)
  where next_block <= to_block and ended_block is null;

-- Money that an address got, but not as the recipient of a settlement, written by the chain processors and the
-- backfill: what a forwarder passed on in the same transaction, and what other contracts settled.
create table payment (
  id text primary key,
  chain text not null,
  block_number int not null,
  log_index int not null,        -- of the log that proves it; no settlement has it
  block_timestamp timestamptz not null,
  kind text not null,            -- forwarded, and those of config/payments.ts
  token bytea not null,          -- of payments by contracts: any
  -- Who signed, never a forwarder. job_release: who funded the job, or its contract while nobody is known to have. Of an
  -- escrow: who provably paid when the money came, else the operator, who called.
  payer bytea not null,
  payee bytea not null,
  gross numeric(78, 0) not null, -- base units of the token
  net numeric(78, 0) not null,   -- what came to the payee: without fees; 0: a contract holds it; below zero: it went back
  facilitator bytea not null,
  tx_hash bytea not null,
  forwarder bytea,               -- forwarded: who passed it on
  origin_log_index int,          -- forwarded: the settlement or payment of the same block whose money it is
  depth int,                     -- forwarded: hops from the payee of that one
  -- What the rows of one payment, channel or job have in common, unique on the chain: a job behind the address of its
  -- contract, a payment of an escrow, by the hash of its terms, behind the address of its operator; null: nothing.
  subject bytea,
  funder bytea,                  -- batch_claim: who put the most into the channel at once, if that is not the payer
  -- Of a token with finer units than millionths of a dollar, where net is 0 though something moved: 1, less than a millionth came to
  -- the payee; -1, it went back.
  fraction_sign smallint,
  unique (chain, block_number, log_index),
  check ((kind = 'forwarded') = (forwarder is not null and origin_log_index is not null and depth is not null))
);
-- Here and below, without what a contract holds: anybody deposits in anybody's name, as often as the gas is worth it.
create index payment_by_payer on payment (payer, block_number desc) where net <> 0 or fraction_sign is not null;
create index payment_facilitator on payment (facilitator, block_number desc);
-- Payments of a payee by time, for pages and for sums of an hour.
create index payment_by_payee on payment (payee, block_timestamp, chain, block_number, log_index)
  where net <> 0 or fraction_sign is not null;
-- What contracts hold for a payee in some token, and what left them.
create index payment_held on payment (payee, token)
  where kind in ('batch_claim', 'batch_deposit', 'batch_return', 'escrow_capture', 'escrow_authorization', 'escrow_return');
-- Payments of a transaction that somebody names.
create index payment_tx on payment using hash (tx_hash);
-- Payments that an address passed on.
create index payment_forwarder on payment (forwarder) where forwarder is not null;

-- Claims of a channel that somebody else than their payer filled.
create index payment_funded_by on payment (funder, block_number desc) where funder is not null;
-- The rows of a subject in the order of the chain: refunds of a payment, and what it had brought before them.
create index payment_of_subject on payment (subject, chain, block_number, log_index) where subject is not null;
-- Its condition follows from no other, and no other from it: by statistics of hardly any rows another index would do as well.
create index payment_taken_back on payment (subject, chain, block_number, log_index) where sign(net) = -1;
-- Rows of a subject from a place on, in the order of the chain. By any statistics payment_of_subject alone has this order.
create function payments_of_subject(of_subject bytea, of_chain text, place bigint, most int) returns setof payment
  language sql stable set enable_sort = off set enable_bitmapscan = off as $$
  select * from payment p
   where p.subject is not null
     and (p.subject, p.chain, p.block_number, p.log_index) >= (of_subject, of_chain, (place >> 32)::int, (place & 4294967295)::int)
     and (p.subject, p.chain) <= (of_subject, of_chain)
   order by p.subject, p.chain, p.block_number, p.log_index
   limit most
$$;
-- The rows by which something came to a payee of an escrow, in the same order.
create index payment_charged on payment (subject, chain, block_number, log_index)
  where kind in ('escrow_charge', 'escrow_capture') and net > 0;
-- What an escrow first charged or captured of a payment, by whose time all rows of it are told: whose own the payer was when it
-- authorized them, or when something goes back, moves no part of a payment to another flag. No row: nothing yet. The place is as in
-- escrow_part. As its owner, because readers of the views may not read the table; by any statistics the index above alone has this
-- order.
create function first_charge(of_subject bytea, of_chain text) returns table (place bigint, at timestamptz)
  language sql stable rows 1 security definer set search_path = public, pg_temp set enable_sort = off set enable_bitmapscan = off as $$
  select (p.block_number::bigint << 32) + p.log_index, p.block_timestamp
    from payment p
   where p.kind in ('escrow_charge', 'escrow_capture') and p.net > 0
     and (p.subject, p.chain) >= (of_subject, of_chain) and (p.subject, p.chain) <= (of_subject, of_chain)
   order by p.subject, p.chain, p.block_number, p.log_index
   limit 1
$$;
-- What a row puts money into: a job, a channel or an escrow; null: it does not.
create function funded_subject(kind text, subject bytea) returns bytea language sql immutable parallel safe as $$
  select case when kind in ('job_funding', 'batch_deposit', 'escrow_authorization', 'escrow_charge') then subject end
$$;
-- Fundings of nearly the same size: within a factor of two.
create function funding_size(gross numeric) returns int language sql immutable parallel safe as $$
  select floor(log(2, greatest(gross, 1)))::int
$$;
-- Of one expression, so that no plan reads the other rows of a subject instead.
create index payment_funding_size on payment
  (funded_subject(kind, subject), chain, funding_size(gross) desc, block_number, log_index)
  where funded_subject(kind, subject) is not null;

-- Who put the most at once into a job, a channel or an escrow before a row of it, null: nobody is known to have; of which size
-- that is, and how often somebody put in so much. Of the largest size there was by then only the first twenty times are read, and
-- of larger ones behind the row the first of each size, so that nobody makes it dear to know who paid, and small sums hide no
-- large one.
create function funding_before(p payment, out funder bytea, out size int, out times int) language plpgsql stable
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
declare
  below int := 2147483647;
  one record;
begin
  loop
    select funding_size(f.gross) as size, (f.block_number, f.log_index) < (p.block_number, p.log_index) as is_before into one
      from payment f
     where funded_subject(f.kind, f.subject) = p.subject and f.chain = p.chain and funding_size(f.gross) < below
     order by funding_size(f.gross) desc, f.block_number, f.log_index
     limit 1;
    exit when one.is_before is not false;
    below := one.size;
  end loop;
  size := one.size;
  select (array_agg(f.payer order by f.gross desc, f.block_number, f.log_index))[1], count(*) into funder, times
    from (select * from payment f
           where funded_subject(f.kind, f.subject) = p.subject and f.chain = p.chain and funding_size(f.gross) = one.size
             and (f.block_number, f.log_index) < (p.block_number, p.log_index)
           order by f.block_number, f.log_index
           limit 20) f;
end $$;

-- The row with what its funding tells. That is in another transaction, which may be loaded later than this one, and by somebody
-- else at the same time: so whoever writes the row holds a lock of the chain until it commits, and takes it before that of the
-- roll-up; the kind `funders` takes it before it looks for rows behind a funding. A job has its contract as payer, and an escrow's payment its operator, while nobody else is known.
create function with_funder(p payment) returns payment language plpgsql as $$
declare
  found_funder bytea := (funding_before(p)).funder;
begin
  if p.kind = 'batch_claim' then
    p.funder := nullif(found_funder, p.payer);
  else
    p.payer := coalesce(found_funder, substr(p.subject, 1, 20));
  end if;
  return p;
end $$;

create function find_funder() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(8013, hashtext(new.chain));
  return with_funder(new);
end $$;
create trigger payment_funder before insert on payment
  for each row when (new.subject is not null
                     and new.kind in ('job_release', 'batch_claim', 'escrow_capture', 'escrow_refund', 'escrow_return'))
  execute function find_funder();

-- Writes again what was paid out of a job, a channel or an escrow and is somebody else's money by what is stored of its fundings:
-- sums and marks follow rows that come and go. Of rows from a place on, so many; the place behind them, null: they were the last.
-- Call it under the locks of who writes payments, so that a roll-up that is about to sum these rows up comes first.
create function follow_funding(of_subject bytea, of_chain text, place bigint, most int) returns bigint
  language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  others text[];
  read int;
  last bigint;
begin
  select array_agg(p.id) filter (where p.kind in ('job_release', 'batch_claim', 'escrow_capture', 'escrow_refund', 'escrow_return')
                                       and with_funder(p) is distinct from p),
         count(*), max((p.block_number::bigint << 32) + p.log_index)
    into others, read, last
    from payments_of_subject(of_subject, of_chain, place, most) p;
  -- Of most fundings nothing is somebody else's: the triggers of the table run for each statement, whether or not rows move.
  if others is not null then
    with gone as (delete from payment where id = any (others) returning *)
    insert into payment select * from gone;
  end if;
  return case when read = most then last + 1 end;
end $$;

-- Everything that addresses got, a row each. What went through a forwarder is there as a settlement to it and as what
-- the forwarder passed on: right for the sum of one payee, too much for the sum of all.
create view income_row as
select chain, block_number, log_index, block_timestamp,
       case when selector in ('\xe3ee160e'::bytea, '\xef55bec6'::bytea) then 'eip3009_vrs' else 'eip3009_bytes' end as kind,
       token, payer, recipient as payee, amount::numeric(78, 0) as gross, amount::numeric(78, 0) as net, facilitator, tx_hash,
       null::bytea as forwarder, null::int as origin_log_index, null::int as depth
  from settlement
 union all
select chain, block_number, log_index, block_timestamp, kind, token, payer, payee, gross, net, facilitator, tx_hash,
       forwarder, origin_log_index, depth
  from payment
 where net <> 0;

-- What the calldata of a transaction says at its end about who had a part in it (ERC-8021, schema 2), for each settlement
-- and payment in it. Self-declared. Written by the chain processors and the backfill.
create table builder_code (
  id text primary key,
  chain text not null,
  block_number int not null,
  log_index int not null,   -- of the settlement or payment
  facilitator text,
  app text,                 -- the seller's
  services text[] not null, -- further participants
  unique (chain, block_number, log_index)
);

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
create function tokens_are_scaled() returns boolean language sql immutable parallel safe as 'select false';

-- Base units that a settlement or payment paid, and its dollars, both exact; `amount` is what its row has, or what a
-- refund takes off income, which may be a part of it. As its owner, because readers of the views may not read the table; who
-- calls it for many rows asks first whether tokens are scaled, which costs nothing.
create function exact_of(of_chain text, of_block int, of_log int, amount numeric, out base_units numeric, out dollars numeric)
  language sql stable parallel safe security definer set search_path = public, pg_temp as $$
  select case when e.id is null then amount
              when part.is_so then trunc(amount * ('1e' || e.decimals - 6)::numeric)
              else e.base_units end,
         case when e.id is null or part.is_so then amount * 0.000001
              else e.base_units * ('1e-' || e.decimals)::numeric end
    from (values (true)) one
    left join exact_amount e
      on tokens_are_scaled() and e.chain = of_chain and e.block_number = of_block and e.log_index = of_log
   cross join lateral (
     select amount < 0 and amount <> trunc(e.base_units * ('1e' || 6 - e.decimals)::numeric) as is_so) part
$$;

-- Symbol of a token of the chain table, from there as well; null: of any other.
create function token_symbol_of(bytea) returns text language sql immutable parallel safe as 'select null::text';
