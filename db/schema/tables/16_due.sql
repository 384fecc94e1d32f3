-- What is to be derived: the one queue of all derivations, whose list is db/due/kinds.ts. A mark says that what is
-- derived of a key may be other than the facts say. Marks are only appended, by triggers made of that list and by
-- derivations, so that who writes facts waits for nobody; those of a key are deleted together, in the transaction that
-- derives it.
create table due (
  kind text not null,
  key text not null,          -- a FID, an address in hex, a registration as chain:id, an hour of an address: db/due/kinds.ts
  due_at timestamptz not null default '-infinity', -- which is at once
  seq bigint generated always as identity,
  attempts int not null default 0,                 -- how often its derivation has failed since it last succeeded
  marked_at timestamptz not null default now(),    -- since when it waits
  primary key (kind, due_at, seq)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);
create index due_keys on due (kind, key collate "C");
create index due_failing on due (kind, attempts) where attempts > 0;

-- Marks keys of rows that came, changed or went, the transition table `moved`. Its arguments are pairs of a kind and a
-- query for keys.
--
-- A session keeps the plan of a trigger's first statement. The first may come while there is hardly a row, and be planned
-- to read whole tables; by that plan a million sums of a loaded range read them a million times. So queries are planned
-- each time, for the rows that moved and the tables as they are.
create function mark_due() returns trigger language plpgsql as $$
begin
  for pair in 0 .. tg_nargs - 2 by 2 loop
    execute format('insert into due (kind, key) select distinct %L, key from (%s) marked (key)',
                   tg_argv[pair], tg_argv[pair + 1]);
  end loop;
  return null;
end $$;
