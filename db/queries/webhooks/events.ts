import type { Queryable } from '../../pool.ts'
import type { OldRows } from '../log/changes.ts'
import { exactDollars, hex } from '../sql/json-text.ts'
import { isListed } from '../sql/settlement-filter.ts'
import { slowOutcome } from './sending.ts'
import { wantsSuch } from './wishes.ts'

/** An event that was appended. */
interface Appended {
  readonly type: string
  readonly fid: number
  /** Null: it names none. */
  readonly chain: string | null
  /** Dollars of its payment, exact. Null: it is of none. */
  readonly amount: string | null
}

/** Accounts of agents that verify an address now: `v`. */
const agentsWith = (address: string) =>
  `join verified_address v on v.address = ${address} and v.ended_at is null
    join agent a on a.fid = v.fid`

/**
 * Events of facts by their keys, $1, as the relation `coming`; $2: settlements by overloads of the two selectors count. A
 * fact may concern several accounts, each of which has an event then.
 */
const coming = `
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
  select w.key, e.fid, e.at, 0, json_build_object('event', e.seq)::jsonb, 'agent.control'
    from wanted w
    join directory_event e on e.seq = case w.part[1] when 'control' then w.part[2]::bigint end
   union all
  select key, fid, at, 0, json_build_object('kind', kind, 'url', url, 'status', status)::jsonb, 'endpoint.down'
    from looked where what = 'down'
   union all
  select key, fid, at, 0,
         json_build_object('kind', kind, 'url', url, 'pay_to',
           array(select distinct price->>'payTo' from jsonb_array_elements(prices) as price
                  where price->>'payTo' is not null order by 1))::jsonb, 'pay_to.changed'
    from looked where what = 'pay_to'
   union all
  select w.key || ':' || v.fid, v.fid, o.block_timestamp, 0,
         json_build_object('chain', o.chain, 'operator_address', ${hex('o.operator')}, 'owner_address', ${hex('o.owner')},
           'tx_hash', ${hex('o.tx_hash')})::jsonb, 'operator.added'
    from wanted w
    join registration_operator o on o.id = array_to_string(w.part[2:], ':') and o.approved
    ${agentsWith('o.owner')}
   where w.part[1] = 'operator'
     and not coalesce((select p.approved from registration_operator p
                        where p.owner = o.owner and p.chain = o.chain and p.operator = o.operator
                          and (p.block_number, p.log_index) < (o.block_number, o.log_index)
                        order by p.block_number desc, p.log_index desc limit 1), false)
   union all
  select w.key || ':' || v.fid, v.fid, o.block_timestamp, 0,
         json_build_object('chain', o.chain, 'operator_address', ${hex('o.approved')}, 'owner_address', ${hex('o.owner')},
           'tx_hash', ${hex('o.tx_hash')}, 'erc8004_id', o.agent_id)::jsonb, 'operator.added'
    from wanted w
    join registration_approval o on o.id = array_to_string(w.part[2:], ':') and o.approved is not null
    ${agentsWith('o.owner')}
   where w.part[1] = 'approval'
   union all
  select w.key || ':' || v.fid, v.fid, s.block_timestamp, 0,
         json_build_object('chain', s.chain, 'block_number', s.block_number, 'log_index', s.log_index,
           'tx_hash', ${hex('s.tx_hash')}, 'payer_address', ${hex('s.payer')}, 'recipient_address', ${hex('s.recipient')},
           'amount_usdc', ${exactDollars('s', 's.amount')})::jsonb, 'settlement.received'
    from wanted w
    join settlement s on s.chain = w.part[2]
                     and s.block_number = case w.part[1] when 'settlement' then w.part[3]::int end
                     and s.log_index = case w.part[1] when 'settlement' then w.part[4]::int end
                     and ($2 or ${isListed('s.selector')})
    ${agentsWith('s.recipient')}
)`

/**
 * Appends events of facts by their keys, in the order of their times; those that are there already are passed over. Call it
 * where nobody else does until the transaction ends. `overloads`: settlements by overloads of the two selectors count.
 */
export async function appendWebhookEvents(
  db: Queryable,
  keys: readonly string[],
  overloads: boolean,
): Promise<Appended[]> {
  const { rows } = await db.query<Appended>({
    name: 'append-webhook-events',
    text: `
${coming}
insert into webhook_event (subject, type, fid, at, data)
select key, type, fid, at, data from coming order by at, fid, place, key
    on conflict (subject) do nothing
returning type, fid, data->>'chain' as chain, data->>'amount_usdc' as amount`,
    values: [keys, overloads],
  })
  return rows
}

/** Columns of an event `e` that was appended, as `wakeWebhooks` has it. */
const appended = { type: 'e.type', chain: 'e.chain', amount: 'e.amount' }

/**
 * Has endpoints sent the events that they want, except for those that wait because they failed or were slow; and those with these ids
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
with event as materialized (
  select * from unnest($4::text[], $5::bigint[], $6::text[], $7::numeric[]) as event (type, fid, chain, amount)),
-- Each endpoint that wants everybody's is compared with a row a type and chain, and each event with those that want its FID.
such as materialized (select type, chain, max(amount) as amount from event group by type, chain),
wanting as materialized (
  select w.id, w.moves from webhook w
   where w.deleted_at is null and w.fids is null and exists (select from such e where ${wantsSuch(appended)})
   union
  select w.id, w.moves from event e join webhook w on w.deleted_at is null and w.fids @> array[e.fid]
   where ${wantsSuch(appended)}
   union
  select w.id, w.moves from webhook w where w.deleted_at is null and w.id = any ($3::text[]))
insert into source_state as s (source, subject, due_at)
select $1, 'webhook:' || w.id, $2
  from wanting w
 where not exists (select from webhook_standing t where t.id = w.id and t.moves = w.moves and t.ended_at is not null)
 order by w.id
    on conflict (source, subject) do update
   set due_at = case when s.lease_id is null then least(s.due_at, excluded.due_at) else s.due_at end,
       failures = case when s.lease_id is null then 0 else s.failures end
 where s.failures = 0 and s.due_at > excluded.due_at and s.last_outcome is distinct from '${slowOutcome}'
    or s.subject = any (select 'webhook:' || id from unnest($3::text[]) as moved (id))`,
    values: [
      source,
      now,
      ids,
      events.map(({ type }) => type),
      events.map(({ fid }) => fid),
      events.map(({ chain }) => chain),
      events.map(({ amount }) => amount),
    ],
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
