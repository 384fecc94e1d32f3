-- What agents were paid is derived agent by agent: no statement reads the hours of all of them any more.
-- squawk-ignore require-concurrent-index-deletion
drop index income_hour_hour;
-- What each agent was paid in the windows that rankings are made of, of what is rolled up: derived agent by agent. Amounts
-- in base units.
create table agent_figure (
  fid bigint not null,
  chain text not null,    -- empty: all of them
  own boolean not null,   -- whether payments from the agent's own addresses count
  newest_at timestamptz,  -- time of the newest settlement that counts, of any time; null: it earned without one
  last_7d bigint not null,
  last_7d_amount numeric(38, 0) not null,
  last_30d bigint not null,
  last_30d_amount numeric(38, 0) not null,
  ever bigint not null,
  ever_amount numeric(38, 0) not null,
  last_7d_payers bigint not null,
  last_30d_payers bigint not null,
  ever_payers bigint not null,
  earned_last_7d bigint not null,
  earned_last_7d_amount numeric(38, 0) not null,
  earned_last_30d bigint not null,
  earned_last_30d_amount numeric(38, 0) not null,
  earned_ever bigint not null,
  earned_ever_amount numeric(38, 0) not null,
  primary key (fid, chain, own)
) with (fillfactor = 85);

-- What the next two are kept for: agents by the addresses they had when counting their payers began.
create table figure_derivation (
  fid bigint primary key,
  addresses bytea[] not null,
  overloads boolean not null, -- whether those who used an overload alone are counted too
  counted boolean not null    -- false: agent_payer_hour has nothing of it yet
);

-- How many paid an agent last in an hour, of what is rolled up: how many paid in a window is their sum. So an agent with
-- millions of payers moves by those who paid again, and by none when an hour leaves a window.
create table agent_payer_hour (
  fid bigint not null,
  chain text not null,       -- empty: all of them
  hour timestamptz not null, -- its beginning
  payers bigint not null,
  primary key (fid, chain, hour)
) with (fillfactor = 85);

-- Pairs with such an agent that came or changed since: when the pair had last paid before. What is in settlement_payer
-- with these taken back is what agent_payer_hour was made of. Only appended by who moves sums, and deleted by who derives.
create table payer_move (
  seq bigint generated always as identity primary key,
  fid bigint not null,
  recipient bytea not null,
  payer bytea not null,
  chain text not null,
  overload boolean not null,
  before timestamptz,   -- null: the pair is new
  back boolean not null -- it went, or last paid earlier than before: the agent is counted again
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);
create index payer_move_fid on payer_move (fid);

create function note_payer_moves() returns trigger language plpgsql as $$
begin
  execute format($planned$
    insert into payer_move (fid, recipient, payer, chain, overload, before, back)
    select d.fid, moved.recipient, moved.payer, moved.chain, moved.overload, moved.before, moved.back
      from (%s) moved
      join verified_address v on v.address = moved.recipient and v.ended_at is null
      join figure_derivation d on d.fid = v.fid
  $planned$, case tg_op
    when 'INSERT' then 'select recipient, payer, chain, overload, null::timestamptz as before, false as back from added'
    when 'DELETE' then 'select recipient, payer, chain, overload, last_at as before, true as back from removed'
    else 'select recipient, payer, chain, overload, r.last_at as before, a.last_at < r.last_at as back
            from added a join removed r using (recipient, payer, chain, overload)
           where a.last_at <> r.last_at' end);
  return null;
end $$;
create trigger payer_moves_added after insert on settlement_payer
  referencing new table as added for each statement execute function note_payer_moves();
create trigger payer_moves_changed after update on settlement_payer
  referencing old table as removed new table as added for each statement execute function note_payer_moves();
create trigger payer_moves_removed after delete on settlement_payer
  referencing old table as removed for each statement execute function note_payer_moves();
