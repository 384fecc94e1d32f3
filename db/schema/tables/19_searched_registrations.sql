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
  primary key (chain, agent_id)
);
-- What fits all filters at once: by whole words, and by parts of the texts.
create index searched_registration_terms on searched_registration
  using gin (terms, name gin_trgm_ops, description gin_trgm_ops);
create index searched_registration_feedback on searched_registration (feedback_count) where feedback_count > 0;
-- The orders of the list, over all chains and of one.
create index searched_registration_updated on searched_registration (updated_at, chain, agent_id);
create index searched_registration_newest on searched_registration (registered_at, chain, agent_id);
create index searched_registration_chain_updated on searched_registration (chain, updated_at, agent_id);
create index searched_registration_chain_newest on searched_registration (chain, registered_at, agent_id);

-- Places in the table, as a statement sees it, of `most` registrations at most that fit; null: that condition is not set. By
-- index alone: two words that many have are
-- often had by few together, which the planner cannot know, and it would read the whole table.
create function registrations_matching(wanted tsquery, named text, described text, rated bigint, most bigint)
returns setof tid language plpgsql stable set enable_seqscan = 'off' as $$
begin
  return query execute 'select s.ctid from searched_registration s where true'
    || case when wanted is null then '' else ' and s.terms @@ $1' end
    || case when named is null then '' else ' and s.name like $2' end
    || case when described is null then '' else ' and s.description like $3' end
    || case when rated is null then '' else ' and s.feedback_count > 0 and s.feedback_count >= $4' end
    || ' limit $5'
    using wanted, named, described, rated, most;
end $$;
