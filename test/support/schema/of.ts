import type { Queryable } from '../../../db/pool.ts'

/** Names without what extensions brought and what the runner keeps for itself. */
const own = (catalog: string, oid: string) => `not exists (
  select from pg_depend where classid = '${catalog}'::regclass and objid = ${oid} and deptype = 'e')`
const schemas = `(select oid from pg_namespace where nspname in ('public', 'directory'))`
const relations = `(select c.*, c.oid::regclass::text as name from pg_class c
  where c.relnamespace in ${schemas} and c.relname !~ '^schema_migration' and ${own('pg_class', 'c.oid')})`

/**
 * Everything that a dump of a database's schema says, as text by object: relations with their columns in their order,
 * constraints, indexes, triggers, functions, views, rights and comments. Two databases with equal answers have equal
 * schemas.
 */
export async function schemaOf(pool: Queryable): Promise<Record<string, string>> {
  const { rows } = await pool.query<{ object: string; text: string }>(`
    select 'schema ' || nspname as object, concat_ws(' ', nspacl, obj_description(oid, 'pg_namespace')) as text
      from pg_namespace where nspname = 'directory'
     union all
    select 'extension ' || extname, '' from pg_extension
     union all
    select 'default rights', string_agg(defaclacl::text, ' ' order by defaclobjtype, defaclacl::text) from pg_default_acl
     union all
    select 'relation ' || name, concat_ws(' ', relkind, relpersistence, reloptions, relacl, pg_get_partkeydef(oid),
           pg_get_expr(relpartbound, oid), obj_description(oid, 'pg_class'))
      from ${relations} r where relkind <> 'i' and relkind <> 'I'
     union all
    select format('column %s %s %s', name, row_number() over (partition by r.oid order by attnum), attname),
           concat_ws(' ', format_type(atttypid, atttypmod), attnotnull, attidentity, attgenerated, attstorage, attacl,
                     nullif(attcollation, 100)::regcollation, pg_get_expr(adbin, adrelid), col_description(r.oid, attnum))
      from ${relations} r
      join pg_attribute on attrelid = r.oid and attnum > 0 and not attisdropped
      left join pg_attrdef on adrelid = r.oid and adnum = attnum
     where relkind in ('r', 'p', 'v')
     union all
    select format('constraint %s %s', r.name, conname), concat_ws(' ', pg_get_constraintdef(k.oid), convalidated)
      from ${relations} r join pg_constraint k on conrelid = r.oid where contype <> 'n'
     union all
    select 'index ' || r.name, concat_ws(' ', pg_get_indexdef(r.oid), indisvalid, indisclustered)
      from ${relations} r join pg_index on indexrelid = r.oid
     union all
    select format('trigger %s %s', r.name, tgname), concat_ws(' ', pg_get_triggerdef(t.oid), tgenabled)
      from ${relations} r join pg_trigger t on tgrelid = r.oid where not tgisinternal
     union all
    select 'view ' || name, pg_get_viewdef(oid) from ${relations} r where relkind = 'v'
     union all
    select 'function ' || p.oid::regprocedure,
           concat_ws(' ', pg_get_functiondef(p.oid), proacl, obj_description(p.oid, 'pg_proc'))
      from pg_proc p where pronamespace in ${schemas} and ${own('pg_proc', 'p.oid')}
     order by 1`)
  // What was dumped and read again has other parentheses in the conditions of its triggers.
  return Object.fromEntries(
    rows.map(({ object, text }) => [object, object.startsWith('trigger ') ? text.replace(/[()]/g, '') : text]),
  )
}
