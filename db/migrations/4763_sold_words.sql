-- Words by which an agent is found that sells something: names of services and tags that its document says, lowercase.
create function sold_words(resources jsonb) returns text[] language sql immutable parallel safe as $$
  select array(select distinct lower(word)
                 from jsonb_array_elements(resources) sold
                cross join lateral (select sold->>'service_name' union all
                                    select jsonb_array_elements_text(sold->'tags')) said (word)
                where word is not null)
$$;
