-- What one statement asks, it says itself.
drop function settlement_has_rows(text, int, int);
create or replace function in_all_forms(asked tsquery, beginnings boolean) returns tsquery language sql immutable parallel safe as $$
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
drop function word_forms(text);
