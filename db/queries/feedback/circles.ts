import { mostRaters } from '../../due/raters.ts'
import type { Queryable } from '../../pool.ts'
import { type FoundRings, type PayerSum, storeReach } from '../income/rings.ts'

// Clients who rate each other in circles: rows of feedback_group by the rule `circle`, each of one client.

/** Registrations that a member of a circle rates elsewhere, and did not pay, which excuse it of nothing: they cost nothing. */
const mostFree = 2

/** SQL: the edges towards an address; none, of one with too many. */
const fewRaters = (address: string) => `
   select e.client, e.registration
     from (select e.client, e.registration, count(*) over () as n
             from (select * from feedback_edge e where e.address = ${address} limit ${mostRaters + 1}) e) e
    where e.n <= ${mostRaters}`

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

/** Who rated some addresses, each pair as a sum of one; nobody, of one with too many to be in a circle. */
export async function ratersOf(db: Queryable, addresses: readonly string[]): Promise<PayerSum[]> {
  const { rows } = await db.query<{ payer: string; recipient: string }>({
    name: 'raters-of',
    text: `
select distinct encode(e.client, 'hex') as payer, given.address as recipient
  from unnest($1::text[]) as given (address)
 cross join lateral (${fewRaters("decode(given.address, 'hex')")}) e
 order by 1, 2`,
    values: [addresses],
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

/** A rating of one address: several of a registration, which has several. */
export interface Rating {
  readonly client: string
  readonly registration: string
  readonly address: string
}

/** What some clients rated. */
export async function ratingsOf(db: Queryable, clients: readonly string[]): Promise<Rating[]> {
  const { rows } = await db.query<Rating>({
    name: 'ratings-of-clients',
    text: `
select given.client, e.registration, encode(e.address, 'hex') as address
  from unnest($1::text[]) as given (client)
  join feedback_edge e on e.client = decode(given.client, 'hex')
 order by 1, 2, 3`,
    values: [clients],
  })
  return rows
}

/** Who rated some addresses; nobody, of one with too many to be in a circle. */
export async function ratingsWith(db: Queryable, addresses: readonly string[]): Promise<Rating[]> {
  const { rows } = await db.query<Rating>({
    name: 'ratings-with-addresses',
    text: `
select encode(e.client, 'hex') as client, e.registration, given.address
  from unnest($1::text[]) as given (address)
 cross join lateral (${fewRaters("decode(given.address, 'hex')")}) e
 order by 1, 2, 3`,
    values: [addresses],
  })
  return rows
}

const storeText = `
with looked as materialized (select decode(address, 'hex') as address from unnest($1::text[]) address),
inside as materialized (
  select decode(address, 'hex') as address, decode(other, 'hex') as other from unnest($2::text[], $3::text[]) as i (address, other)
),
mate as materialized (
  select decode(client, 'hex') as client, registration, raters, inside
    from unnest($4::text[], $5::text[], $6::int[], $7::int[]) as m (client, registration, raters, inside)
),
-- By one join each, as a circle may have hundreds of addresses.
given as materialized (
  select address, count(*) - least(${mostFree}, count(*) filter (where not is_inside and not is_paid)) as n,
         count(*) filter (where is_inside) as inside, bool_or(is_inside and not is_paid) as is_unpaid
    from (select e.client as address, e.registration, e.is_paid,
                 coalesce(bool_or(m.inside >= rule.least_share * m.raters), false) as is_inside
            from (select distinct address from inside) one
            join feedback_rule rule on rule.name = 'circle'
            join feedback_edge e on e.client = one.address
            left join mate m on m.client = e.client and m.registration = e.registration
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

/** A registration that a client rated on its circle, how many rated that, and how many of these as the circle has it. */
export interface Mate {
  readonly client: string
  readonly registration: string
  readonly raters: number
  readonly inside: number
}

/**
 * Stores which of some addresses are in a circle, and whose edges were looked at for them. They are where, of the registrations
 * that they rated, but for two others that they did not pay, and of those who rated them, the share that the rule asks for is
 * in the circle. A registration is that the same share of whose raters is. Who paid for each of its ratings in the circle is not:
 * what others of it paid excuses these alone.
 */
export async function storeCircles(db: Queryable, found: readonly FoundRings[], mates: readonly Mate[]): Promise<void> {
  const inside = found.flatMap(({ address, ring }) => ring.map((other) => [address, other] as const))
  await storeReach(db, 'circles', found)
  await storeReach(
    db,
    'circles back',
    found.map(({ address, reachedBack }) => ({ address, reached: reachedBack })),
  )
  await db.query({
    name: 'store-circles',
    text: storeText,
    values: [
      found.map(({ address }) => address),
      inside.map(([address]) => address),
      inside.map(([, other]) => other),
      mates.map(({ client }) => client),
      mates.map(({ registration }) => registration),
      mates.map(({ raters }) => raters),
      mates.map(({ inside }) => inside),
    ],
  })
}
