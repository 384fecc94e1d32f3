-- Feedback on registrations, which anybody may give, and responses to it; written by the chain processors.

create table feedback (
  id text primary key,
  chain text not null,
  agent_id numeric(78, 0) not null,
  client bytea not null,
  feedback_index numeric(20, 0) not null,
  value numeric(39, 0) not null,
  value_decimals int not null,
  tag1 text not null,
  tag2 text not null,
  endpoint text not null,
  feedback_uri text not null,
  feedback_hash bytea not null,
  block_number int not null,
  log_index int not null,
  block_timestamp timestamptz not null,
  tx_hash bytea not null,
  revoked_block int,
  revoked_at timestamptz
);
-- Feedback of a client, oldest first.
create index feedback_of_client on feedback (client, block_timestamp);
create index feedback_block on feedback (chain, block_number);
create index feedback_revoked on feedback (chain, revoked_block) where revoked_block is not null;
-- Feedback of a registration, newest first, from any place on.
create index feedback_newest on feedback (chain, agent_id, block_timestamp, block_number, log_index);

-- How much feedback each registration was given, so that nothing that is shown counts it: anybody may give a million.
-- Kept by whatever writes feedback, undoing included.
create table feedback_total (
  chain text not null,
  agent_id numeric(78, 0) not null,
  standing bigint not null,
  revoked bigint not null,
  primary key (chain, agent_id)
);

create function sum_feedback() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into feedback_total as t (chain, agent_id, standing, revoked)
    select chain, agent_id, count(*) filter (where revoked_block is null), count(revoked_block)
      from added group by 1, 2 order by 1, 2
        on conflict (chain, agent_id) do update
       set standing = t.standing + excluded.standing, revoked = t.revoked + excluded.revoked;
  elsif tg_op = 'TRUNCATE' then
    truncate feedback_total;
  elsif tg_op = 'UPDATE' then
    insert into feedback_total as t (chain, agent_id, standing, revoked)
    select chain, agent_id, sum(n) filter (where not taken), sum(n) filter (where taken)
      from (select chain, agent_id, revoked_block is not null as taken, count(*) as n from added group by 1, 2, 3
             union all
            select chain, agent_id, revoked_block is not null, -count(*) from removed group by 1, 2, 3
             union all
            select distinct chain, agent_id, taken, 0 from added, (values (false), (true)) as both_of (taken)
             union all
            select distinct chain, agent_id, taken, 0 from removed, (values (false), (true)) as both_of (taken)) moved
     group by 1, 2 order by 1, 2
        on conflict (chain, agent_id) do update
       set standing = t.standing + excluded.standing, revoked = t.revoked + excluded.revoked
     where (excluded.standing, excluded.revoked) <> (0, 0);
  else
    insert into feedback_total as t (chain, agent_id, standing, revoked)
    select chain, agent_id, -count(*) filter (where revoked_block is null), -count(revoked_block)
      from removed group by 1, 2 order by 1, 2
        on conflict (chain, agent_id) do update
       set standing = t.standing + excluded.standing, revoked = t.revoked + excluded.revoked;
  end if;
  return null;
end $$;
create trigger feedback_total_added after insert on feedback
  referencing new table as added for each statement execute function sum_feedback();
create trigger feedback_total_changed after update on feedback
  referencing old table as removed new table as added for each statement execute function sum_feedback();
create trigger feedback_total_removed after delete on feedback
  referencing old table as removed for each statement execute function sum_feedback();
create trigger feedback_total_emptied after truncate on feedback
  for each statement execute function sum_feedback();

-- Responses to feedback, which anybody may append: the agent's own count. A chain that was indexed before this table was
-- there has those of later blocks alone; taking it back (npm run reset) brings the others.
create table feedback_response (
  id text primary key,
  chain text not null,
  agent_id numeric(78, 0) not null,
  client bytea not null,
  feedback_index numeric(20, 0) not null,
  responder bytea not null,
  response_uri text not null,
  response_hash bytea not null,
  block_number int not null,
  log_index int not null,
  block_timestamp timestamptz not null,
  tx_hash bytea not null
);
create index feedback_response_feedback on feedback_response (chain, agent_id, client, feedback_index, responder);
create index feedback_response_block on feedback_response (chain, block_number);

-- Files that feedback names, as read once, and what the payment that they name is by our own rows. What they say is believed
-- nowhere else. Written by the enrichment job.
create table feedback_file (
  feedback_id text primary key,
  uri_sha256 bytea not null,     -- of the feedback's URI: a feedback that was undone may come again with another one
  status text not null,          -- ok, foreign (of other feedback), empty, unsupported, invalid, unreachable
  hash text,                     -- what the feedback's hash is of: content, sdk, none (zero), mismatch; null: nothing was read
  payment_from bytea,            -- the payment that it names, as it says; null: it does not say
  payment_to bytea,
  payment_chain_id bigint,
  payment_tx bytea,              -- null: it names none
  read_at timestamptz not null,
  -- Whether our rows have it: found; others (it came later than the feedback, or the client says that it paid what another one
  -- did); missing, where a plain transfer is as well; or unknown; null: it names none, or nobody has looked yet.
  named text,
  named_chain text,              -- found: which it is
  named_block int,
  named_at timestamptz,
  named_recipients bytea[],      -- and to whom: a transaction may have several payments that fit, each with its log
  named_log_indexes int[],
  -- Whether the registry that it names was compared with the feedback's. One that was read before that is asked for again, and
  -- says what it said until it was read.
  registry_compared boolean not null default true
);

-- What the feedback comes to of agents that got so much of it, or hold so many registrations, that nobody can be made to
-- wait while it is counted: as the enrichment job last counted it.
create table agent_feedback (
  fid bigint primary key,
  summary json not null,
  counted_at timestamptz not null
);
