import { hasMoved } from '../../due/paid-hours.ts'
import type { Queryable } from '../../pool.ts'
import { isRolledUp, unrolledBlocks } from '../sql/block-states.ts'
import { markHours } from '../sql/income.ts'

/** Sum of what one address paid another, of every kind and on every chain; lowercase hex without 0x. */
export interface PayerSum {
  readonly payer: string
  readonly recipient: string
  /** Base units; more than zero. */
  readonly amount: bigint
}

/** Result of the search for an address's rings. */
export interface FoundRings {
  readonly address: string
  /** Payers whose payments to it are part of a ring. */
  readonly payers: readonly string[]
  /** All addresses of the ring, in no order. */
  readonly ring: readonly string[]
  /** Addresses whose sums were read during the search, as payers and as recipients. */
  readonly reached: readonly string[]
  readonly reachedBack: readonly string[]
}

/** Those of some addresses, lowercase hex without 0x, that are an agent's. Call it under `holdRollup`. */
export async function incomeAddressesOf(db: Queryable, addresses: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ address: string }>({
    name: 'income-addresses-of',
    text: `
select address
  from unnest($1::text[]) as given (address)
 where exists (select from income_address i where i.address = decode(given.address, 'hex'))`,
    values: [addresses],
  })
  return new Set(rows.map(({ address }) => address))
}

/**
 * Whom some addresses paid, and how much, by payer and recipient. Of an address with more than `most` sums, which are by
 * recipient, chain and form of the signature, and one a funder for all that is no settlement, nothing.
 */
export async function paidBy(db: Queryable, payers: readonly string[], most: number): Promise<PayerSum[]> {
  const { rows } = await db.query<{ payer: string; recipient: string; amount: string }>({
    name: 'paid-by',
    text: `
select encode(given.payer, 'hex') as payer, encode(paid.recipient, 'hex') as recipient, sum(paid.amount)::text as amount
  from (select decode(payer, 'hex') as payer from unnest($1::text[]) payer) given
 cross join lateral (
   select recipient, amount, count(*) over () as n
     from (select recipient, amount from settlement_payer p where p.payer = given.payer and length(p.chain) > 0
            union all
           select payee, amount - refunded from payment_sum p where p.payer = given.payer and length(p.chain) > 0
            limit $2::int + 1) sums
 ) paid
 where paid.n <= $2 and paid.recipient <> given.payer and paid.amount > 0
 group by given.payer, paid.recipient
 order by given.payer, paid.recipient`,
    values: [payers, most],
  })
  return rows.map(({ amount, ...pair }) => ({ ...pair, amount: BigInt(amount) }))
}

/**
 * Stores what was found of some addresses in place of what was stored, and has the hours summed up again in which a payer that
 * came or went paid them. Call it under `holdRollup`.
 */
export async function storeRings(db: Queryable, found: readonly FoundRings[]): Promise<void> {
  const pairs = found.flatMap(({ address, payers }) => payers.map((payer) => [address, payer] as const))
  await storeReach(db, 'rings', found)
  await db.query({
    name: 'store-rings',
    text: `
with ${unrolledBlocks},
looked as materialized (select decode(address, 'hex') as address from unnest($1::text[]) address),
wanted as materialized (
  select decode(recipient, 'hex') as recipient, decode(payer, 'hex') as payer
    from unnest($2::text[], $3::text[]) as w (recipient, payer)
),
lost as (
  delete from income_ring i
   using looked
   where i.recipient = looked.address
     and not exists (select from wanted w where (w.recipient, w.payer) = (i.recipient, i.payer))
  returning i.recipient, i.payer
),
added as (
  insert into income_ring (recipient, payer) select recipient, payer from wanted order by recipient, payer
      on conflict do nothing
  returning recipient, payer
),
moved as (select recipient, payer from lost union select recipient, payer from added)
${markHours(`
  select h.recipient, h.chain, h.hour
    from moved
    join settlement_payer p on p.recipient = moved.recipient and p.payer = moved.payer
    join settlement_hourly h on h.recipient = p.recipient and h.chain = p.chain and h.overload = p.overload
                            and h.hour >= date_trunc('hour', p.first_at, 'UTC') and h.hour <= p.last_at
   where exists (select from income_address i where i.address = h.recipient)
   union all
  select p.payee, p.chain, date_trunc('hour', p.block_timestamp, 'UTC')
    from moved
    join payment p on p.payee = moved.recipient and p.payer = moved.payer and ${hasMoved('p')}
   where exists (select from income_address i where i.address = p.payee) and ${isRolledUp('p')}`)}`,
    values: [
      found.map(({ address }) => address),
      pairs.map(([recipient]) => recipient),
      pairs.map(([, payer]) => payer),
    ],
  })
}

/** Stores whom some addresses reached in place of what was stored: whose payments, whose ratings, or whose raters were read for them. */
export async function storeReach(
  db: Queryable,
  kind: 'rings' | 'circles' | 'circles back',
  found: readonly { readonly address: string; readonly reached: readonly string[] }[],
): Promise<void> {
  const reached = found.flatMap(({ address, reached }) => reached.map((member) => [address, member] as const))
  await db.query({
    name: 'store-reach',
    text: `
with reached as materialized (
  select decode(address, 'hex') as address, decode(member, 'hex') as member
    from unnest($3::text[], $4::text[]) as r (address, member)
),
unreached as (
  delete from circle_reach r
   using unnest($2::text[]) as looked (address)
   where r.kind = $1 and r.address = decode(looked.address, 'hex')
     and not exists (select from reached w where (w.address, w.member) = (r.address, r.member))
)
insert into circle_reach (kind, member, address) select $1, member, address from reached order by member, address
    on conflict do nothing`,
    values: [
      kind,
      found.map(({ address }) => address),
      reached.map(([address]) => address),
      reached.map(([, member]) => member),
    ],
  })
}
