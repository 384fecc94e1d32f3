-- Views of the SQL contract name a chain's label now. A database that was migrated with a chain table has the function
-- already, with the labels in it.
do $$
begin
  if to_regprocedure('public.chain_label_of(text)') is null then
    create function public.chain_label_of(text) returns text language sql immutable parallel safe as 'select null::text';
  end if;
end $$;
