-- Messages in the write-ahead log are writes that even a read-only transaction may make, and everybody's in a new database.
-- They are taken from everybody and given back to those who write here, as the advisory locks were.
do $$
declare
  message regprocedure;
  writer name;
begin
  if not (select rolsuper from pg_roles where rolname = current_user) then return; end if;
  for message in
    select p.oid from pg_proc p
     where p.pronamespace = 'pg_catalog'::regnamespace and p.proname = 'pg_logical_emit_message'
  loop
    execute format('revoke execute on function %s from public', message);
    for writer in
      select r.rolname
        from pg_roles r
       where not r.rolsuper
         and (r.oid = (select datdba from pg_database where datname = current_database())
              or has_table_privilege(r.oid, 'agent_event', 'insert'))
    loop
      execute format('grant execute on function %s to %I', message, writer);
    end loop;
  end loop;
end $$;
