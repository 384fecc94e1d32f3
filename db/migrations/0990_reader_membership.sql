-- GraphQL reads as directory_reader, whoever it logs in as. Since Postgres 16 a user that is no superuser administers
-- the roles it has made and may not be them, until it makes itself a member.
do $$
begin
  if exists (select from pg_roles where rolname = 'directory_reader')
     and not (select rolsuper from pg_roles where rolname = current_user) then
    grant directory_reader to current_user;
  end if;
exception
  when unique_violation then null; -- another database of this server did it just now
  when insufficient_privilege then
    raise notice '% may not make itself a member of directory_reader; docs/sql.md says how an administrator does it, for GraphQL', current_user;
end $$;
