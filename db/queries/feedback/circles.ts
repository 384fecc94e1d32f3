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

/** The account of each of some addresses that one verifies, or did: the first of them. */
export async function accountsOf(db: Queryable, addresses: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query<{ address: string; fid: string }>({
    name: 'accounts-of-raters',
    text: `
select given.address, v.fid
  from unnest($1::text[]) as given (address)
 cross join lateral (select min(v.fid) as fid from verified_address v where v.address = decode(given.address, 'hex')) v
 where v.fid is not null`,
    values: [addresses],
  })
  return new Map(rows.map(({ address, fid }) => [address, Number(fid)]))
}

const storeText = `
with looked as materialized (select decode(address, 'hex') as address from unnest($1::text[]) address),
inside as materialized (
  select decode(address, 'hex') as address, decode(other, 'hex') as other from unnest($2::text[], $3::text[]) as i (address, other)
),
-- By one join each, as a circle may have hundreds of addresses.
given as materialized (
  select address, count(*) - least(${mostFree}, count(*) filter (where not is_inside and not is_paid)) as n,
         count(*) filter (where is_inside) as inside, bool_or(is_inside and not is_paid) as is_unpaid
    from (select e.client as address, e.registration, e.is_paid, bool_or(i.other is not null) as is_inside
            from (select distinct address from inside) one
            join feedback_edge e on e.client = one.address
            left join inside i on i.address = e.client and i.other = e.address
           group by e.client, e.registration, e.is_paid) rated
   group by address
),
got as materialized (
  select e.address, count(distinct e.client) as n, count(distinct e.client) filter (where i.other is not null) as inside
    from (select distinct address from inside) one
   cross join lateral (select * from feedback_edge e where e.address = one.address limit ${mostRaters + 1}) e
    left join inside i on i.address = e.address and i.other = e.client
   group by e.address
  having count(*) <= ${mostRaters}
),
circle as materialized (
  select address, one.clients, given.n + got.n as compared
    from (select address, count(*) as clients from inside group by address) one
    join given using (address)
    join got using (address)
    join feedback_rule rule on rule.name = 'circle'
   where given.is_unpaid and given.inside >= rule.least_share * given.n and got.inside >= rule.least_share * got.n
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
