import type { Queryable } from '../../pool.ts'
import { type FoundRings, type PayerSum, storeReach } from '../income/rings.ts'

// Clients who rate each other in circles: rows of feedback_group by the rule `circle`, each of one client.

/** Edges towards one client that are read. One that more rated is in no circle. */
const mostRaters = 500
/** Registrations that a member of a circle rates elsewhere, and did not pay, which excuse it of nothing: they cost nothing. */
const mostFree = 2

/** Those of some addresses, lowercase hex without 0x, that rate others and are rated. */
export async function ratedRaters(db: Queryable, addresses: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ address: string }>({
    name: 'rated-raters',
    text: `
select given.address
  from unnest($1::text[]) as given (address)
 where exists (select from feedback_edge e where e.client = decode(given.address, 'hex'))
   and exists (select from feedback_edge e where e.address = decode(given.address, 'hex'))`,
    values: [addresses],
  })
  return new Set(rows.map(({ address }) => address))
}

/** Whom some clients rated: each pair as a sum of one. */
export async function ratedBy(db: Queryable, clients: readonly string[]): Promise<PayerSum[]> {
  const { rows } = await db.query<{ payer: string; recipient: string }>({
    name: 'rated-by',
    text: `
select distinct encode(e.client, 'hex') as payer, encode(e.address, 'hex') as recipient
  from unnest($1::text[]) as given (client)
  join feedback_edge e on e.client = decode(given.client, 'hex')
 order by 1, 2`,
    values: [clients],
  })
  return rows.map((pair) => ({ ...pair, amount: 1n }))
}

const storeText = `
with looked as materialized (select decode(address, 'hex') as address from unnest($1::text[]) address),
inside as materialized (
  select decode(address, 'hex') as address, decode(other, 'hex') as other from unnest($2::text[], $3::text[]) as i (address, other)
),
circle as materialized (
  select one.address, count(*) as clients, max(given.n + got.n) as compared
    from (select distinct address from inside) one
    join inside using (address)
    join feedback_rule rule on rule.name = 'circle'
   cross join lateral (
     select count(*) - least(${mostFree}, count(*) filter (where not e.is_inside and not e.is_paid)) as n,
            count(*) filter (where e.is_inside) as inside, coalesce(bool_or(e.is_inside and not e.is_paid), false) as is_unpaid
       from (select e.registration, e.is_paid, bool_or(i.other is not null) as is_inside
               from feedback_edge e
               left join inside i on i.address = one.address and i.other = e.address
              where e.client = one.address
              group by e.registration, e.is_paid) e
   ) given
   cross join lateral (
     select count(distinct e.client) as n, count(distinct e.client) filter (where i.other is not null) as inside, count(*) as edges
       from (select * from feedback_edge e where e.address = one.address limit ${mostRaters + 1}) e
       left join inside i on i.address = one.address and i.other = e.client
   ) got
   where given.is_unpaid and given.inside >= rule.least_share * given.n and got.inside >= rule.least_share * got.n and got.edges <= ${mostRaters}
   group by one.address
),
gone as (
  delete from feedback_group g
   using looked
   where g.rule = 'circle' and g.subject = encode(looked.address, 'hex')
     and not exists (select from circle c where c.address = looked.address)
)
insert into feedback_group as g (rule, subject, clients, compared)
select 'circle', encode(address, 'hex'), clients, compared from circle order by address
    on conflict (rule, subject) do update set (clients, compared) = row(excluded.clients, excluded.compared)
 where (g.clients, g.compared) is distinct from (excluded.clients, excluded.compared)`

/**
 * Stores which of some addresses are in a circle, and whose edges were looked at for them. They are where, of the registrations
 * that they rated, but for two others that they did not pay, and of those who rated them, the share that the rule asks for is
 * in the circle. Who paid for each of its ratings in the circle is not: what others of it paid excuses these alone.
 */
export async function storeCircles(db: Queryable, found: readonly FoundRings[]): Promise<void> {
  const inside = found.flatMap(({ address, ring }) => ring.map((other) => [address, other] as const))
  await storeReach(db, 'circles', found)
  await db.query({
    name: 'store-circles',
    text: storeText,
    values: [found.map(({ address }) => address), inside.map(([address]) => address), inside.map(([, other]) => other)],
  })
}
