import type { Queryable } from '../../pool.ts'
import type { OldRows } from '../log/changes.ts'

/** An event that was appended. */
interface Appended {
  readonly type: string
  readonly fid: number
}

/**
 * Appends events of facts by their keys, in the order of their times; those that are there already are passed over. Call it
 * where nobody else does until the transaction ends.
 */
export async function appendWebhookEvents(db: Queryable, keys: readonly string[]): Promise<Appended[]> {
  const { rows } = await db.query<Appended>({
    name: 'append-webhook-events',
    text: `
with wanted as materialized (select key, string_to_array(key, ':') as part from unnest($1::text[]) as wanted (key)),
looked as materialized (
  select w.key, w.part[1] as what, s.fid, s.kind, s.url, s.prices, to_timestamp(w.part[4]::numeric / 1000) as at,
         case when s.last_check_status <> 'ok' then s.last_check_status end as status
    from wanted w
    join agent_spec s on s.fid = w.part[2]::bigint and s.kind = w.part[3] and s.url = array_to_string(w.part[5:], ':')
   where w.part[1] in ('down', 'pay_to')
),
coming as (
  select w.key, c.fid, c.changed_at as at, c.seq as place, json_build_object('change', c.seq)::jsonb as data,
         case when c.kind = 'delist' then 'agent.delisted' when before.kind = 'upsert' then 'agent.updated'
              else 'agent.listed' end as type
    from wanted w
    join agent_change c on c.seq = case w.part[1] when 'change' then w.part[2]::bigint end
    left join lateral (
      select kind from agent_change p where p.fid = c.fid and p.seq < c.seq order by p.seq desc limit 1
    ) before on true
   union all
  select w.key, e.fid, e.at, 0, json_build_object('method', e.method)::jsonb, 'agent.claimed'
    from wanted w
    join claim_event e on e.fid = case w.part[1] when 'claim' then w.part[2]::bigint end
                      and e.seq = case w.part[1] when 'claim' then w.part[3]::int end
   union all
  select key, fid, at, 0, json_build_object('kind', kind, 'url', url, 'status', status)::jsonb, 'endpoint.down'
    from looked where what = 'down'
   union all
  select key, fid, at, 0,
         json_build_object('kind', kind, 'url', url, 'pay_to',
           array(select distinct price->>'payTo' from jsonb_array_elements(prices) as price
                  where price->>'payTo' is not null order by 1))::jsonb, 'pay_to.changed'
    from looked where what = 'pay_to'
)
insert into webhook_event (subject, type, fid, at, data)
select key, type, fid, at, data from coming order by at, fid, place, key
    on conflict (subject) do nothing
returning type, fid`,
    values: [keys],
  })
  return rows
}

/**
 * Has endpoints sent the events that they want, except for those that wait because they failed; and those with these ids
 * whatever they wait for, because their accounts have just registered or moved them.
 */
export async function wakeWebhooks(
  db: Queryable,
  { events, ids }: { readonly events: readonly Appended[]; readonly ids: readonly string[] },
  { source, now }: { readonly source: string; readonly now: Date },
): Promise<void> {
  // A row that is leased is locked, too: who ends the lease looks for further events after that.
  await db.query({
    name: 'wake-webhooks',
    text: `
insert into source_state as s (source, subject, due_at)
select $1, 'webhook:' || w.id, $2
  from webhook w
 where w.deleted_at is null
   and (w.id = any ($3::text[])
        or exists (select from unnest($4::text[], $5::bigint[]) as event (type, fid)
                    where event.type = any (w.types) and (w.fids is null or event.fid = any (w.fids))))
   and not exists (select from webhook_standing t where t.id = w.id and t.moves = w.moves and t.ended_at is not null)
 order by w.id
    on conflict (source, subject) do update
   set due_at = case when s.lease_id is null then least(s.due_at, excluded.due_at) else s.due_at end,
       failures = case when s.lease_id is null then 0 else s.failures end
 where s.failures = 0 or s.subject = any (select 'webhook:' || id from unnest($3::text[]) as moved (id))`,
    values: [source, now, ids, events.map(({ type }) => type), events.map(({ fid }) => fid)],
  })
}

/** Deletes events that happened before a time, at most `limit`, oldest first. Returns how many. */
export async function forgetWebhookEvents(db: Queryable, { before, limit }: OldRows): Promise<number> {
  const { rowCount } = await db.query({
    name: 'forget-webhook-events',
    text: `delete from webhook_event where seq in (select seq from webhook_event where at < $1 order by at, seq limit $2)`,
    values: [before, limit],
  })
  return rowCount ?? 0
}

/** Deletes attempts to send that were made before a time, at most `limit`. Returns how many. */
export async function forgetWebhookDeliveries(db: Queryable, { before, limit }: OldRows): Promise<number> {
  const { rowCount } = await db.query({
    name: 'forget-webhook-deliveries',
    text: `delete from webhook_delivery where (id, at, seq) in (
             select id, at, seq from webhook_delivery where at < $1 order by at limit $2)`,
    values: [before, limit],
  })
  return rowCount ?? 0
}

/** Deletes attempts to send, and where an endpoint stood, with it; `old` is a query for its id and how often it was moved. */
const forgetEndpoints = (old: string) => `
with gone as (
  delete from webhook w using (${old}) old where w.id = old.id and w.moves = old.moves returning w.id),
standing as (delete from webhook_standing where id in (select id from gone)),
deliveries as (delete from webhook_delivery where id in (select id from gone))
select count(*)::int as gone from gone`

/** Deletes endpoints that their accounts deleted before a time, at most `limit`, with what was sent there. Returns how many. */
export async function forgetWebhooks(db: Queryable, { before, limit }: OldRows): Promise<number> {
  const { rows } = await db.query<{ gone: number }>({
    name: 'forget-webhooks',
    text: forgetEndpoints('select id, moves from webhook where deleted_at < $1 order by deleted_at, id limit $2'),
    values: [before, limit],
  })
  return rows[0]?.gone ?? 0
}

/** Deletes endpoints that ended before a time and were not moved since, at most `limit`. Returns how many. */
export async function forgetEndedWebhooks(db: Queryable, { before, limit }: OldRows): Promise<number> {
  const { rows } = await db.query<{ gone: number }>({
    name: 'forget-ended-webhooks',
    text: forgetEndpoints(`
      select s.id, s.moves from webhook_standing s join webhook w using (id, moves)
       where s.ended_at < $1 order by s.ended_at, s.id limit $2`),
    values: [before, limit],
  })
  return rows[0]?.gone ?? 0
}
