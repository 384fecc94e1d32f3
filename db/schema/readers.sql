-- The SQL contract: what data teams may read, and what GraphQL and exports are made of. Version 1. Each view is a file of
-- `directory/`. A view's columns only grow; db/contract/directory.json is its record. First lines of a comment that begin
-- with @ are relations for GraphQL.

create schema if not exists directory;
comment on schema directory is 'Version 1. Addresses and hashes are lowercase hex with 0x in front, times are timestamptz, chains go by their lowercase name, amount_usdc is dollars with all six decimals.';

-- The reader: these views alone, read only. A user who may not create roles gets the schema without it and is told.
do $$
begin
  if not exists (select from pg_roles where rolname = 'directory_reader') then
    create role directory_reader login connection limit 20;
    alter role directory_reader set statement_timeout = '10s';
    alter role directory_reader set idle_in_transaction_session_timeout = '30s';
    alter role directory_reader set default_transaction_read_only = on;
    alter role directory_reader set work_mem = '16MB';
    alter role directory_reader set search_path = directory;
  end if;
exception
  when duplicate_object or unique_violation then null; -- another database of this server made it just now
  when insufficient_privilege then
    raise notice 'role directory_reader was not created: % may not; docs/sql.md says how an administrator adds it', current_user;
end $$;

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

-- Run again by whoever migrates once an administrator has made the role. It covers views of later versions as well.
create or replace function directory.grant_reader() returns boolean language plpgsql as $$
begin
  if not exists (select from pg_roles where rolname = 'directory_reader') then return false; end if;
  grant usage on schema directory to directory_reader;
  grant select on all tables in schema directory to directory_reader;
  alter default privileges in schema directory grant select on tables to directory_reader;
  return true;
end $$;
comment on function directory.grant_reader() is e'@behavior -*\nLets directory_reader read the views; false: there is no such role yet.';
revoke execute on function directory.grant_reader() from public;
select directory.grant_reader();

-- A reader calls functions as the views do, and no other way: some tell of rows whose views leave them out. Names of `public`
-- are everybody's in a new database; they are left to those who read its tables.
do $$
declare
  other name;
begin
  for other in
    select r.rolname from pg_roles r where not r.rolsuper and has_table_privilege(r.oid, 'agent', 'select')
  loop
    execute format('grant usage on schema public to %I', other);
  end loop;
  revoke usage on schema public from public;
  if has_schema_privilege('public', 'public', 'usage') then
    raise notice '% does not own the schema public, so readers may call its functions; docs/sql.md says how its owner keeps them', current_user;
  end if;
exception when insufficient_privilege then
  raise notice '% has no rights on the schema public; docs/sql.md says how its owner keeps readers from its functions', current_user;
end $$;

-- What a reader could hold or fill although it may read nothing but the views: advisory locks, which the processes take
-- turns by; large objects, temporary tables and messages in the write-ahead log, which are writes; DO, which runs
-- programs. All of it is everybody's in a new database, so it is taken from everybody and given back to those who write
-- here. Only a superuser may do that, or make a setting that no session can change; docs/sql.md says what stays open.
do $$
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
            or p.proname in ('lo_creat', 'lo_create', 'lo_from_bytea', 'lo_put', 'lowrite', 'pg_logical_emit_message'))
     union all select 'usage on language plpgsql'
     union all select format('temporary on database %I', current_database())
  loop
    execute format('revoke %s from public', thing);
    for writer in
      select r.rolname
        from pg_roles r
       where not r.rolsuper
         and (r.oid = (select datdba from pg_database where datname = current_database())
              or has_table_privilege(r.oid, 'agent', 'insert'))
    loop
      execute format('grant %s to %I', thing, writer);
    end loop;
  end loop;
end $$;
