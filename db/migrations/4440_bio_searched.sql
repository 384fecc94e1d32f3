-- Agents are found by what their accounts say of themselves, and by other forms of a word.
alter table agent_words add column bio text not null default '';
-- What a search looks through: an agent's words by weight, the lightest what its account says of itself.
create function searched_document(agent_words) returns tsvector language sql immutable parallel safe as $$
  select $1.document || to_tsvector('simple', $1.bio)
$$;
-- Query words in each of their forms: as they are written, as plural and as singular, by the endings of English; what
-- that makes of other words nobody says. `beginnings`: longer words begin with one of these, too. Words that must not
-- occur, `!'word'`, are taken whole.
create function word_forms(word text) returns text[] language sql immutable parallel safe as $$
  select array_agg(form) filter (where form is not null)
    from unnest(array[word] || case when word ~ '^[a-z]{3,}$' then array[
           case when word ~ '..[^aeiou]ies$' then regexp_replace(word, 'ies$', 'y') end,
           case when word ~ '..(s|x|z|ch|sh)es$' then regexp_replace(word, 'es$', '') end,
           case when word ~ '..[^s]s$' then regexp_replace(word, 's$', '') end,
           case when word ~ '[^aeiou]y$' then regexp_replace(word, 'y$', 'ies')
                when word ~ '(ss|us|x|z|ch|sh)$' then word || 'es'
                when word !~ 's$' then word || 's' end] end) as one (form)
$$;
create function in_all_forms(asked tsquery, beginnings boolean) returns tsquery language sql immutable parallel safe as $$
  select coalesce(nullif(string_agg(
           case when token !~ '^!?''' then token
                else (select left(token, -length(quoted)) || '(' || string_agg(
                               '''' || form || '''' || case when beginnings and token like '''%' and octet_length(form) >= 3
                                                            then ':*' else '' end, ' | ') || ')'
                        from unnest(word_forms(substr(quoted, 2, length(quoted) - 2))) as one (form))
           end, '' order by place), '')::tsquery, asked)
    from regexp_matches(asked::text, '!?''(?:[^'']|'''')*''|[^''!]+|!', 'g') with ordinality as part (matched, place)
   cross join lateral (select matched[1], ltrim(matched[1], '!')) as one (token, quoted)
$$;
create or replace function note_searched_agent() returns trigger language plpgsql as $$
begin
  insert into searched_agent as kept (fid, search, combination, document)
  select new.fid, new.search, filtered_combination(new),
         coalesce((select searched_document(w) from agent_words w where fid = new.fid), '')
      on conflict (fid) do update set (search, combination) = (excluded.search, excluded.combination);
  return null;
end $$;
create or replace function note_searched_words() returns trigger language plpgsql as $$
begin
  insert into searched_agent as kept (fid, search, combination, document)
  select fid, search, filtered_combination(agent), searched_document(new) from agent where fid = new.fid
      on conflict (fid) do update set document = excluded.document;
  return null;
end $$;
drop trigger searched_words_changed on agent_words;
create trigger searched_words_changed after update of names, skills, descriptions, bio on agent_words
  for each row when ((new.document, new.bio) is distinct from (old.document, old.bio)) execute function note_searched_words();
