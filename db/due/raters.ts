import { incomeLimits } from '../../config/limits.ts'
import { hex, type Kind, type Mark } from './mark.ts'
import { hasPaid } from './paid-hours.ts'
import { registration } from './routes.ts'

// Who rates whom: the kinds `raters`, `circles` and `rater groups`.

/** Edges towards one address that are read. One with more raters is in no circle. */
export const mostRaters = 500

const isClient = (address: string) => `exists (select from feedback_client c where c.client = ${address})`
const isFunder = (address: string) => `exists (select from feedback_client c where c.funder = ${address})`

/** Sums by payer and payee. Keys are due when the first payment of a pair changes, or whether it paid more than dust, and did not get that back. */
const pairs = [
  {
    table: 'settlement_payer',
    payee: '(moved.recipient)',
    givers: '(moved.payer)',
    key: 'recipient, payer, chain, overload',
    paid: (row: string) => `${row}.amount >= ${incomeLimits.dustBelow}, ${row}.first_paid_at`,
  },
  {
    table: 'payment_sum',
    payee: '(moved.payee)',
    givers: '(moved.payer), (moved.funder)',
    key: 'payee, payer, chain, funder',
    paid: (row: string) => `${hasPaid(row, incomeLimits.dustBelow)}, ${row}.first_at`,
  },
] as const

/** Marks of both tables: `from` leads from pairs that came, went or have another first payment to keys. */
function pairMarks(
  key: string,
  from: (pair: { readonly rows: string; readonly payee: string; readonly givers: string }) => string,
): Mark[] {
  return pairs.flatMap(({ table, payee, givers, key: of, paid }) => {
    const changed = `(select moved.* from moved join were using (${of})
              where (${paid('moved')}) is distinct from (${paid('were')})) moved`
    return [
      { table, on: ['insert', 'delete'] as const, key, from: from({ rows: 'moved', payee, givers }) },
      { table, on: ['update'] as const, key, from: from({ rows: changed, payee, givers }) },
    ]
  })
}

/** Sums of money that is, or is not any more, of somebody behind whom it was paid, or that such a one signed for. */
const moneyOf = {
  income_owner: `s.funder <> '' and length(s.chain) > 0 and moved.address in (s.funder, s.payer)`,
  income_address: `s.payee = moved.address and s.funder <> ''`,
}

/** Marks of both sides of these sums: `from` leads from them to keys. */
const moneyMarks = (key: string, from: string): Mark[] =>
  (['income_owner', 'income_address'] as const).map((table) => ({
    table,
    on: ['insert', 'delete'],
    key,
    from: `moved join payment_sum s on ${moneyOf[table]} ${from}`,
  }))

/** Clients who rated a registration after this event of it: they may have rated another holder or wallet than was derived. */
const ratedBehind = {
  key: hex('f.client'),
  from: `moved
      join feedback f on f.chain = moved.chain and f.agent_id = moved.agent_id and f.block_timestamp >= moved.block_timestamp
                     and (f.block_number, f.log_index) > (moved.block_number, moved.log_index)`,
}

/**
 * Clients who rated an address, or another one of an account that has it verified, or had; and clients that are one, as a
 * wallet that rates its own registration has no edge to itself.
 */
const ratedWith = (address: string, fid: string) => ({
  key: hex('its.client'),
  from: `moved
     cross join lateral (
       select ${address} as address
        union
       select o.address from verified_address o where o.fid in (${fid})) one
     cross join lateral (
       select e.client from feedback_edge e where e.address = one.address
        union
       select c.client from feedback_client c where c.client = one.address) its`,
})

/** Clients first funded by an address that moved. */
const funded = (rows: string) => ({
  key: hex('c.client'),
  from: `${rows} join feedback_client c on c.funder = moved.client`,
})

const raterMarks: readonly Mark[] = [
  { table: 'feedback', on: ['insert', 'delete'], key: hex('client') },
  ...pairMarks(
    hex('side.address'),
    ({ rows, payee, givers }) => `${rows} cross join lateral (values ${payee}, ${givers}) side (address)
     where ${isClient('side.address')}`,
  ),
  ...moneyMarks(
    hex('side.address'),
    `cross join lateral (values (s.payee), (s.payer), (s.funder)) side (address) where ${isClient('side.address')}`,
  ),
  { table: 'income_ring', on: ['insert', 'delete'], key: hex('payer'), from: `moved where ${isClient('payer')}` },
  { table: 'registration_transfer', on: ['insert', 'delete'], ...ratedBehind },
  { table: 'registration_wallet', on: ['insert', 'delete'], ...ratedBehind },
  { table: 'verified_address', ...ratedWith('moved.address', 'moved.fid') },
  {
    table: 'feedback_client',
    on: ['insert', 'delete'],
    ...ratedWith('moved.client', 'select v.fid from verified_address v where v.address = moved.client'),
  },
  { table: 'feedback_client', on: ['insert', 'delete'], ...funded('moved') },
  {
    table: 'feedback_client',
    on: ['update'],
    ...funded(`(select moved.* from moved join were using (client)
            where (moved.registrations, moved.funded_at, moved.generation)
                  is distinct from (were.registrations, were.funded_at, were.generation)) moved`),
  },
]

/** Both ends of an edge, and those whose search saw whom its client rates, or who rates its address. */
const aroundEdge = {
  key: hex('one.address'),
  from: `moved cross join lateral (
       select moved.client as address union select moved.address
        union select r.address from circle_reach r where r.kind = 'circles' and r.member = moved.client
        union select r.address from circle_reach r where r.kind = 'circles back' and r.member = moved.address) one`,
}

/**
 * Others who rated the address of an edge and are rated: whether it depends on their circle goes by who rates it. There is nobody
 * to tell of where there were too many raters before and are still.
 */
const peersOfEdge = {
  key: hex('peer.client'),
  from: `(select address, count(*) as n from moved group by address) its
     cross join lateral (
       select e.client, count(*) over () as n
         from (select e.client from feedback_edge e where e.address = its.address limit ${mostRaters + 1} + its.n) e) peer
     where peer.n <= ${mostRaters} + its.n and exists (select from feedback_edge e where e.address = peer.client)`,
}

const fundedBy = (funder: string) => `'shared_funder:' || ${hex(funder)}`
const ratedOnly = (registration: string) => `'only_rates:' || ${registration}`
const ratedAt = (registration: string, at: string) =>
  `'made_together:' || ${registration} || ':' || floor(extract(epoch from ${at}) / 3600)::bigint`

/** Groups that clients are of. */
const groupsOf = (rows: string) => ({
  key: 'one.key',
  from: `${rows}
     cross join lateral (
       select ${fundedBy('moved.funder')} as key
        union all
       select unnest(array[${ratedOnly('registration')}, ${ratedAt('registration', 'moved.seen_at')}])
         from unnest(moved.registrations) registration) one
     where one.key is not null`,
})

const changedClients = `(
       select sides.*
         from moved join were using (client)
        cross join lateral (values
          (moved.funder, moved.registrations, moved.seen_at), (were.funder, were.registrations, were.seen_at))
          sides (funder, registrations, seen_at)
        where (moved.funder, moved.registrations, moved.seen_at, moved.is_idle)
              is distinct from (were.funder, were.registrations, were.seen_at, were.is_idle)) moved`

const rated = `f.chain || ':' || f.agent_id`
/** Groups of everything rated by clients that turned idle or active: of a client with more than `registrations` has, none is idle. */
const groupsOfTurned = {
  key: 'one.key',
  from: `moved join were using (client)
      join feedback f on f.client = moved.client
     cross join lateral (
       select unnest(array[${ratedOnly(rated)}, ${ratedAt(rated, 'f.block_timestamp')}]) as key) one
     where moved.is_idle <> were.is_idle`,
}

const groupMarks: readonly Mark[] = [
  { table: 'feedback', on: ['insert', 'delete'], key: ratedOnly(registration) },
  { table: 'feedback', on: ['insert', 'delete'], key: ratedAt(registration, 'block_timestamp') },
  { table: 'feedback_client', on: ['insert', 'delete'], ...groupsOf('moved') },
  { table: 'feedback_client', on: ['update'], ...groupsOf(changedClients) },
  { table: 'feedback_client', on: ['update'], ...groupsOfTurned },
  ...pairMarks(
    fundedBy('side.address'),
    ({ rows, givers }) =>
      `${rows} cross join lateral (values ${givers}) side (address) where ${isFunder('side.address')}`,
  ),
  ...moneyMarks(
    fundedBy('side.address'),
    `cross join lateral (values (s.payer), (s.funder)) side (address) where ${isFunder('side.address')}`,
  ),
]

export const raters: Kind = {
  marks: raterMarks,
  all: [
    { table: 'feedback', key: hex('client') },
    { table: 'feedback_client', key: hex('client') },
  ],
}

export const circles: Kind = {
  marks: [
    { table: 'feedback_edge', ...aroundEdge },
    { table: 'feedback_edge', on: ['insert', 'delete'], ...peersOfEdge },
    // Circles are of so many accounts.
    {
      table: 'verified_address',
      on: ['insert', 'delete'],
      key: hex('r.address'),
      from: `moved join circle_reach r on r.kind = 'circles' and r.member = moved.address`,
    },
  ],
  all: [
    { table: 'feedback_edge', key: hex('address') },
    { table: `circle_reach where kind = 'circles'`, key: hex('address') },
  ],
}

export const raterGroups: Kind = {
  marks: groupMarks,
  all: [
    { table: 'feedback', key: ratedOnly(registration) },
    { table: 'feedback', key: ratedAt(registration, 'block_timestamp') },
    { table: 'feedback_client where funder is not null', key: fundedBy('funder') },
    { table: `feedback_group where rule <> 'circle'`, key: `rule || ':' || subject` },
  ],
}
