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
create or replace function registrations_matching(wanted tsquery, named text, described text, rated bigint, most bigint)
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
