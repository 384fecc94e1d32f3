-- What a reader could hold or fill although it may read nothing but the views: advisory locks, which the processes take
-- turns by; large objects and temporary tables, which are writes; DO, which runs programs. All of it is everybody's in a
-- new database, so it is taken from everybody and given back to those who write here. Only a superuser may do that, or
-- make a setting that no session can change; docs/sql.md says what stays open.

create function confine_readers() returns void language plpgsql as $$
declare
  has_reader constant boolean := exists (select from pg_roles where rolname = 'directory_reader');
  is_superuser constant boolean := (select rolsuper from pg_roles where rolname = current_user);
  setting text[];
  thing text;
  writer name;
begin
  foreach setting slice 1 in array array[
    ['lock_timeout', '5s', '15'], ['idle_session_timeout', '1h', '15'], ['transaction_timeout', '1min', '17'], ['temp_file_limit', '2GB', 'superuser']
  ] loop
    continue when not has_reader or not case setting[3] when 'superuser' then is_superuser
                                        else current_setting('server_version_num')::int >= setting[3]::int * 10000 end;
    -- Another directory of this server may have made it, or be making it now.
    continue when exists (select from pg_db_role_setting
                           where setrole = 'directory_reader'::regrole and setdatabase = 0
                             and setting[1] || '=' || setting[2] = any (setconfig));
    begin
      execute format('alter role directory_reader set %I = %L', setting[1], setting[2]);
    exception when insufficient_privilege or unique_violation or internal_error then null;
    end;
  end loop;
  if not is_superuser then return; end if;
  for thing in
    select 'execute on function ' || p.oid::regprocedure
      from pg_proc p
     where p.pronamespace = 'pg_catalog'::regnamespace
       and (p.proname ~ '^pg_(try_)?advisory_(xact_)?lock'
            or p.proname in ('lo_creat', 'lo_create', 'lo_from_bytea', 'lo_put', 'lowrite'))
     union all select 'usage on language plpgsql'
     union all select format('temporary on database %I', current_database())
  loop
    execute format('revoke %s from public', thing);
    for writer in
      select r.rolname
        from pg_roles r
       where not r.rolsuper
         and (r.oid = (select datdba from pg_database where datname = current_database())
              or has_table_privilege(r.oid, 'agent_event', 'insert'))
    loop
      execute format('grant %s to %I', thing, writer);
    end loop;
  end loop;
end $$;
select confine_readers();
drop function confine_readers();
