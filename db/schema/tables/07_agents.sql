-- Agents as readers see them, written by the enrichment job: their rows, the logs that mirrors and feeds follow, and what
-- they are found by.

create extension if not exists pg_trgm;

-- Derived: one row an agent, recomputed whole in one transaction whenever one of its inputs changed.
--
-- A round of the counters moves a thousand agents at once. On a page of the table that no vacuum has seen since, an agent is
-- read even when its order's index has all that is asked for: with the default of autovacuum, a fifth of all agents.
create table agent (
  fid bigint primary key,
  handle text,
  display_name text,
  bio text,
  pfp_url text,
  oli text,
  chains text[] not null,                    -- names of chains with a current record, in the table's order
  verified_addresses bytea[] not null,       -- the current verified set, sorted
  claimed boolean not null,
  claim_method text,
  claimed_at timestamptz,
  agent_status text not null,                -- active, historical, claimed-only
  registered_at timestamptz not null,
  listed_at timestamptz not null,
  registry_event_at timestamptz,             -- newest registry event of a current record
  last_message_at timestamptz,
  last_alive_at timestamptz,
  has_spec boolean not null default false,
  has_codehost boolean not null default false,
  spec_check_status text not null default 'unchecked',
  settlements_30d bigint not null default 0, -- refreshed every minute, for sorting; the profile counts exactly
  settlements_all bigint not null default 0,
  last_settlement_at timestamptz,
  search text not null,                      -- lowercase handle, display name and oli, one a line
  -- Last change of anything a reader sees in this row or its holdings; messages and settlements are activity, not change.
  changed_at timestamptz not null,
  spec_digest uuid,                          -- of what is shown of the documents, to tell a change from none
  enriched_digest uuid,                      -- of what is shown of other sources, to tell a change from none
  -- When what the feed shows of an agent changed last; `changed_at` moves with much that it does not show.
  entry_changed_at timestamptz,
  current_total int not null default 0,      -- tokens it holds now
  historical_total int not null default 0,   -- holdings that ended
  claim_state text,                          -- how its claims stand: live, suspended; null: not claimed
  -- Newest hash of their chain: a mirror that keeps it notices a changed past. Null: never claimed.
  claim_sha256 bytea,
  -- What the weakest of its verified addresses is proven by: shown of an agent, so that another one is a change.
  assurance text,
  settlements_7d bigint not null default 0,
  handle_assurance text -- proven, signed or stated; null: it has no handle
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index agent_search on agent using gin (search gin_trgm_ops);
-- The bulk document and the filter of claimed agents read few of many rows.
create index agent_claimed on agent (claimed_at, fid) where claimed;
-- Agents by handle, whatever its case.
create index agent_handle on agent (lower(handle));
-- Agents by settlements, for the rankings of the windows that no list is sorted by.
create index agent_busiest_7d on agent (settlements_7d desc) where settlements_7d > 0;
create index agent_busiest on agent (settlements_all desc) where settlements_all > 0;
-- Agents by chain, for searches and facets that few of them fit.
create index agent_chains on agent using gin (chains);
-- Agents by the time of their first registration, for lists of those of some days among many.
create index agent_registered on agent (registered_at);
-- The orders of the list with the columns of the common filters, so that the agents before a page far from the beginning,
-- and those that miss a filter, are passed in the index alone: behind 90,000 agents a page takes 10 ms, not 144 to 340.
create index agent_in_newest on agent (listed_at desc, fid desc)
  include (chains, claimed, has_spec, has_codehost, settlements_30d);
create index agent_in_oldest on agent (listed_at, fid desc)
  include (chains, claimed, has_spec, has_codehost, settlements_30d);
create index agent_in_fid on agent (fid desc) include (chains, claimed, has_spec, has_codehost, settlements_30d);
create index agent_in_cross_chain on agent (cardinality(chains) desc, settlements_all desc, fid desc)
  include (chains, claimed, has_spec, has_codehost, settlements_30d);
create index agent_in_most_active on agent (settlements_30d desc, settlements_all desc, fid desc)
  include (chains, claimed, has_spec, has_codehost);

-- Derived with `agent`: every holding of a verified address of the fid. reason is null for a current record.
--
-- Anybody can send tokens to a verified address. What that costs is bounded: readers see the first of an agent's tokens,
-- those of its own making before those it was sent, and agents with very many are derived on the side (large_holder).
create table agent_holding (
  fid bigint not null,
  chain text not null,
  agent_id numeric(78, 0) not null,
  held_by bytea not null,
  acquired_block int not null,
  acquired_log_index int not null,
  acquired_at timestamptz not null,
  released_block int,
  released_at timestamptz,
  released_tx bytea,
  transferred_to bytea,
  to_fid bigint,
  reason text,                                -- transfer, burn, verification_removed
  token_digest uuid,                          -- of what is shown of the token from other tables, to tell a change from none
  unsolicited boolean not null default false, -- sent by a stranger, and the holder has set nothing since
  wallet_chain text,                          -- other: of another chain than the holder's contract wallet
  primary key (fid, chain, agent_id, acquired_block, acquired_log_index)
);
create index agent_holding_token on agent_holding (chain, agent_id);
create index agent_holding_transferred_to on agent_holding (transferred_to, fid) where transferred_to is not null;
create index agent_holding_current on agent_holding (fid, unsolicited, chain, agent_id) where reason is null;
create index agent_holding_ended on agent_holding (fid, released_at desc) where reason is not null;
create index agent_holding_wallet_chain on agent_holding (fid, held_by)
 where wallet_chain is not null and reason is null;

-- Agents with more holdings than the join derives under its lock: what their holdings come to, as last derived.
create table large_holder (
  fid bigint primary key,
  derived_at timestamptz,                 -- null: not yet
  changed boolean not null default false, -- the holdings are others than `agent_change` tells
  held boolean not null default false,    -- there is a holding
  current int not null default 0,
  historical int not null default 0,
  chains text[] not null default '{}',
  registered_at timestamptz,
  registry_event_at timestamptz,
  listed_at timestamptz
);

-- What a mirror has to follow: upsert or delist, in sequence order, which is the order of commits.
create table agent_change (
  seq bigint generated always as identity primary key,
  fid bigint not null,
  kind text not null,
  changed_at timestamptz not null,
  sha256 bytea -- of what readers see of the agent: docs/log.md; null: it is gone
);
create index agent_change_fid on agent_change (fid, seq desc);
-- Agents that left the index, the last first.
create index agent_change_delisted on agent_change (changed_at desc, fid) where kind = 'delist';

-- Settlements, messages and answers of hosts are activity, not change; what a mirror shows of an agent moves with them
-- all the same. One row an agent, numbered from the sequence of agent_change: together they are what a mirror follows.
create table agent_activity (
  fid bigint primary key,
  seq bigint not null unique,
  changed_at timestamptz not null default now() -- when the agent last moved
);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is appended to and never changed', tg_table_name;
end $$;

-- What became of agents, for readers who follow it: appended to and never changed. Everything that writes `agent` holds
-- the join's lock until it ends, so that numbers are handed out in the order of commits: below one that is seen no other
-- comes later. Numbers of what was rolled back are missing.
create table directory_event (
  seq bigint generated always as identity primary key,
  at timestamptz not null default now(),
  fid bigint not null,
  kind text not null check (kind in ('listed', 'delisted', 'claimed', 'unclaimed', 'status', 'control')),
  handle text,         -- as it was then
  status text not null -- active, historical, claimed-only, as it was then
);
create trigger directory_event_kept before update or delete on directory_event
  for each statement execute function refuse_change();

create function note_directory_event() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    insert into directory_event (fid, kind, handle, status) values (old.fid, 'delisted', old.handle, old.agent_status);
    return null;
  end if;
  if tg_op = 'INSERT' then
    insert into directory_event (fid, kind, handle, status) values (new.fid, 'listed', new.handle, new.agent_status);
  elsif new.agent_status <> old.agent_status then
    insert into directory_event (fid, kind, handle, status) values (new.fid, 'status', new.handle, new.agent_status);
  end if;
  if new.claimed is distinct from (tg_op = 'UPDATE' and old.claimed) then
    insert into directory_event (fid, kind, handle, status)
    values (new.fid, case when new.claimed then 'claimed' else 'unclaimed' end, new.handle, new.agent_status);
  end if;
  return null;
end $$;
create trigger agent_listed after insert or delete or update of claimed, agent_status on agent
  for each row execute function note_directory_event();

-- Who could change an agent's registrations when that was looked at last, by whose change an event is noted.
create table agent_control (
  fid bigint primary key,
  digest bytea not null, -- SHA-256 of the owners, operators and approved addresses of its registrations
  read_digest bytea, -- of who commands these, as chains said when all of them had been read; null: they never were
  noted_at timestamptz -- when its last event was noted, behind which an hour has no other; null: it has none
);

-- What agents are found by, derived with `agent`: their names, and what their registrations and documents say of them.
create table agent_words (
  fid bigint primary key,
  names text not null,  -- handle, display name, tag, names of registrations and documents, one a line
  skills text not null, -- skills, tools, services
  descriptions text not null,
  pieces json not null, -- [{field, text}]: the same one by one, to say where a word was found
  document tsvector not null generated always as (
    setweight(to_tsvector('simple', names), 'A') || setweight(to_tsvector('simple', skills), 'B')
      || setweight(to_tsvector('simple', descriptions), 'C')) stored,
  bio text not null default '' -- of the account
);
create index agent_words_names on agent_words using gin (lower(names) gin_trgm_ops);

-- Agents as words and filters find and count them, a narrow row each: both conditions of a search lead by index into one
-- table, and agents are counted by what most filters are over without a look at anything else. Derived with `agent` and
-- its words, in the same transaction; the last two columns by themselves, when a registration or its feedback changes.
create table searched_agent (
  fid bigint primary key,
  search text not null,                  -- of agent
  combination text collate "C" not null, -- values of most filters, of agent: 'base,celo|t|f|f'
  document tsvector not null,            -- of agent_words: words by weight, the lightest what the account says of itself
  declared text[] not null default '{}', -- what a registration that it holds says, as terms of searched_registration
  most_feedback bigint                   -- that stands on one of these; null: it holds none
);
-- Agents by words, and by parts of their names.
create index searched_agent_document on searched_agent using gin (document);
create index searched_agent_search on searched_agent using gin (search gin_trgm_ops);
-- Agents by what their registrations declare, and by feedback on these.
create index searched_agent_declared on searched_agent using gin (declared);
create index searched_agent_feedback on searched_agent (most_feedback) where most_feedback > 0;

-- Query words in each of their forms: as they are written, as plural and as singular, by the endings of English; what
-- that makes of other words nobody says. `beginnings`: longer words begin with one of these, too. Words that must not
-- occur, `!'word'`, are taken whole.
create function in_all_forms(asked tsquery, beginnings boolean) returns tsquery language sql immutable parallel safe as $$
  select coalesce(nullif(string_agg(
           case when token !~ '^!?''' then token
                else (select left(token, -length(quoted)) || '(' || string_agg(
                               '''' || form || '''' || case when beginnings and token like '''%' and octet_length(form) >= 3
                                                            then ':*' else '' end, ' | ') || ')'
                        from unnest(array[word] || case when word ~ '^[a-z]{3,}$' then array[
                               case when word ~ '..[^aeiou]ies$' then regexp_replace(word, 'ies$', 'y') end,
                               case when word ~ '..(s|x|z|ch|sh)es$' then regexp_replace(word, 'es$', '') end,
                               case when word ~ '..[^s]s$' then regexp_replace(word, 's$', '') end,
                               case when word ~ '[^aeiou]y$' then regexp_replace(word, 'y$', 'ies')
                                    when word ~ '(ss|us|x|z|ch|sh)$' then word || 'es'
                                    when word !~ 's$' then word || 's' end] end) as one (form)
                       where form is not null)
           end, '' order by place), '')::tsquery, asked)
    from regexp_matches(asked::text, '!?''(?:[^'']|'''')*''|[^''!]+|!', 'g') with ordinality as part (matched, place)
   cross join lateral (select matched[1], ltrim(matched[1], '!')) as one (token, quoted)
   cross join lateral (select substr(quoted, 2, length(quoted) - 2)) as inside (word)
$$;
