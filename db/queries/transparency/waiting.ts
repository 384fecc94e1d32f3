import type { Queryable } from '../../pool.ts'

const kind = 'logged facts'
/** Most changes of an account that are looked for. */
const mostChanges = 1_000

/**
 * Deletes further marks of what the log is to have, and returns their keys: `limit` facts at most on either side of changes
 * in the order of keys, because many changes are to keep none of them waiting, and the changes of these accounts that wait,
 * so that the entries of an account are in its order. Call it while the kind is nobody else's.
 */
export async function takeOtherFacts(
  db: Queryable,
  keys: readonly string[],
  { now, limit }: { readonly now: Date; readonly limit: number },
): Promise<string[]> {
  const { rows } = await db.query<{ key: string }>({
    name: 'take-other-facts',
    text: `
with fact as materialized (
  (select key from due
    where kind = '${kind}' and key collate "C" < 'change:' and due_at <= $1 order by key collate "C" limit $2)
   union
  (select key from due
    where kind = '${kind}' and key collate "C" > 'change;' and due_at <= $1 and key like '%:%' order by key collate "C" limit $2)
),
account as (
  select distinct split_part(key, ':', case when key like 'claim:%' then 2 else 3 end)::bigint as fid
    from (select key from fact union select unnest($3::text[])) logged
   where key like 'claim:%' or key like 'listing:%'
),
picked as materialized (
  select key from fact
   union
  select 'change:' || seq
    from account
   cross join lateral (select seq from agent_change c where c.fid = account.fid order by seq desc limit ${mostChanges}) change
),
mark as (
  select own.ctid
    from picked
   cross join lateral (
     select ctid from due
      where kind = '${kind}' and key collate "C" between picked.key and picked.key and due_at <= $1
      order by key collate "C" offset 0
   ) own
),
taken as (delete from due where ctid = any (array(select ctid from mark)) returning key)
select distinct key from taken`,
    values: [now, limit, keys],
  })
  return rows.map(({ key }) => key)
}
