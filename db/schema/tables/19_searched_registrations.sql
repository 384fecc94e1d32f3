-- Registrations as the search over all of them finds them, derived from their rows by key: one narrow row each, those that
-- were burned left out. What a filter asks for by a whole word is a term `<filter>:<word>`, so that any combination of such
-- filters is one look into one index, whatever table the words came from.
create table searched_registration (
  chain text not null,
  agent_id numeric(78, 0) not null,
  registered_at timestamptz not null,
  updated_at timestamptz not null,
  fid bigint,                 -- agent that verifies the holder; null: none does
  name text,                  -- of the document, lowercase
  description text,           -- of the document, lowercase
  feedback_count bigint not null,
  terms tsvector not null,
  feedback_value numeric,     -- mean of the newest feedback that stands; null: there is none
  active_at timestamptz not null, -- registered, or given feedback last
  moved_at timestamptz not null,  -- last event of either registry
  primary key (chain, agent_id)
);
-- What fits all filters at once: by whole words, and by parts of the texts. `like` on an index of texts would read every row
-- again that has all trigrams, in whatever order; lists of trigrams are compared in the index.
create index searched_registration_words on searched_registration using gin (terms, show_trgm(name), show_trgm(description));
create index searched_registration_feedback on searched_registration (feedback_count) where feedback_count > 0;
-- The orders of the list, over all chains and of one.
create index searched_registration_updated on searched_registration (updated_at, chain, agent_id);
create index searched_registration_newest on searched_registration (registered_at, chain, agent_id);
create index searched_registration_chain_updated on searched_registration (chain, updated_at, agent_id);
create index searched_registration_chain_newest on searched_registration (chain, registered_at, agent_id);
-- Other orders, those of the subgraph, of one chain.
create index searched_registration_chain_active on searched_registration (chain, active_at, agent_id);
create index searched_registration_chain_moved on searched_registration (chain, moved_at, agent_id);
create index searched_registration_chain_named on searched_registration (chain, (left(coalesce(name, ''), 200)), agent_id);
create index searched_registration_chain_rated on searched_registration (chain, feedback_count, agent_id);

-- Trigrams of every text that `part` is a part of: those that are there whatever letter comes before and behind it. Two letters
-- could come to the same trigram, one before and one behind; three cannot. Of many, twelve all over the alphabet: each is one
-- more list of places to read, which is as long as the table where everybody has it.
create function trigrams_inside(part text) returns text[] language sql immutable parallel safe as $$
  select array(select distinct on (share) trigram
                 from (select trigram, ntile(12) over (order by trigram collate "C") as share
                         from (select unnest(show_trgm('a' || part || 'a')) intersect select unnest(show_trgm('b' || part || 'b'))
                               intersect select unnest(show_trgm('c' || part || 'c'))) inside (trigram)) shared
                order by share, trigram collate "C")
$$;

-- Places in the table, as a statement sees it, of `most` registrations at most that may fit; null: that condition is not set.
-- Texts that have all trigrams of a part may have them in another order. By index alone: two words that many have are
-- often had by few together, which the planner cannot know, and it would read the whole table.
create function registrations_matching(wanted tsquery, named text, described text, rated bigint, most bigint)
returns setof tid language plpgsql stable set enable_seqscan = 'off' as $$
begin
  return query execute 'select s.ctid from searched_registration s where true'
    || case when wanted is null then '' else ' and s.terms @@ $1' end
    || case when named is null then '' else ' and show_trgm(s.name) @> $2' end
    || case when described is null then '' else ' and show_trgm(s.description) @> $3' end
    || case when rated is null then '' else ' and s.feedback_count > 0 and s.feedback_count >= $4' end
    || ' limit $5'
    using wanted, trigrams_inside(named), trigrams_inside(described), rated, most;
end $$;
