import { isListed } from '../sql/settlement-filter.ts'

// Statements that keep the five tables settlements are summed up in: of each recipient by hour, in all and by payer; of
// all recipients by hour and by sender of the transaction. $1 is the chain.

interface Sums {
  readonly table: string
  /** Columns of the table's key besides `chain` and `overload`. */
  readonly by: readonly string[]
  readonly values: Readonly<Record<string, Value>>
  /** Column that is asked of the rows to which something was added. */
  readonly returning?: string
  /** Whether pairs that move are noted, for those who keep count of them. */
  readonly isNoted?: boolean
}

interface Value {
  /** SQL aggregate over the settlements that come, `fact`. */
  readonly of: string
  /** How it is added to what is stored, `t`. */
  readonly add: (more: string) => string
  /** What is left of what is stored, `t`, without the settlements that are `gone`. */
  readonly left: string
}

const sum = (name: 'n' | 'amount'): Value => ({
  of: `sum(${name})`,
  add: (more) => `t.${name} + ${more}`,
  left: `t.${name} - gone.${name}`,
})

/** The first or the last of a sum; `next` is an SQL expression for the one that follows when it is gone. */
const end = (name: string, side: 'first' | 'last', next: string): Value => ({
  of: `${side === 'first' ? 'min' : 'max'}(${name})`,
  add: (more) => `${side === 'first' ? 'least' : 'greatest'}(t.${name}, ${more})`,
  left: `case when t.n = gone.n or gone.${name} ${side === 'first' ? '>' : '<'} t.${name} then t.${name} else coalesce(${next}, t.${name}) end`,
})

const isOfHour = (
  from: string,
  to: string,
) => `s.chain = $1 and s.recipient = t.recipient and s.block_number between ${from} and ${to}
                     and t.overload <> ${isListed('s.selector')} and ${isRolledUp('s.block_number')}`
const hourEnd = (side: 'first' | 'last') =>
  end(
    `${side}_block`,
    side,
    `
             (select s.block_number from settlement s
               where ${side === 'first' ? isOfHour('gone.first_block', 't.last_block') : isOfHour('t.first_block', 'gone.last_block')}
               order by s.block_number ${side === 'first' ? '' : 'desc'} limit 1)`,
  )

/** The last of a recipient is the last of its last hour; the hours are written first. */
const lastOfRecipient = `
             (select (select s.block_timestamp from settlement s
                       where s.chain = $1 and s.recipient = t.recipient and s.block_number = h.last_block limit 1)
                from settlement_hourly h
               where h.recipient = t.recipient and h.chain = $1 and h.overload = t.overload
               order by h.hour desc limit 1),
             (select max(a.last_at) from settlement_archive_sum a
               where a.chain = $1 and a.recipient = t.recipient and a.overload = t.overload)`

const nearest = (
  by: { readonly recipient: boolean; readonly role: 'payer' | 'facilitator' },
  from: { readonly block: string; readonly at: string; readonly paid?: boolean; readonly upwards: boolean },
) => `nearest_settlement(
               $1, ${by.recipient ? 't.recipient' : 'null'}, '${by.role}', t.${by.role}, t.overload, ${from.paid ?? false}, t.n - gone.n, ${from.block}, ${from.at}, ${from.upwards})`
const ends = (by: Parameters<typeof nearest>[0], without = '') => ({
  first_at: end('first_at', 'first', nearest(by, { block: 'gone.first_block', at: 'gone.first_at', upwards: true })),
  last_at: end(
    'last_at',
    'last',
    `${nearest(by, { block: 'gone.last_block', at: 'gone.last_at', upwards: false })}${without}`,
  ),
})
const ofPayer = { recipient: true, role: 'payer' } as const
const firstPaid: Value = {
  of: 'min(first_paid_at)',
  add: (more) => `least(t.first_paid_at, ${more})`,
  left: `case when t.amount = gone.amount then null when gone.first_paid_at > t.first_paid_at then t.first_paid_at
              when gone.first_paid_at is null then t.first_paid_at
              else ${nearest(ofPayer, { block: 'gone.paid_block', at: 'gone.first_paid_at', paid: true, upwards: true })} end`,
}
/** The last of a sender whose settlements are all archived. */
const lastArchived = `,
             (select max(a.last_at) from settlement_archive_sum a
               where a.facilitator = t.facilitator and a.chain = $1 and a.overload = t.overload)`

const n = sum('n')
const amount = sum('amount')
const tables: readonly Sums[] = [
  {
    table: 'settlement_hourly',
    by: ['recipient', 'hour'],
    values: { first_block: hourEnd('first'), last_block: hourEnd('last'), n, amount },
  },
  { table: 'settlement_hour_total', by: ['hour'], values: { n, amount } },
  {
    table: 'settlement_total',
    by: ['recipient'],
    values: { last_at: end('last_at', 'last', lastOfRecipient), n, amount },
    returning: 'recipient',
  },
  {
    table: 'settlement_payer',
    by: ['recipient', 'payer'],
    values: { ...ends(ofPayer), first_paid_at: firstPaid, n, amount },
    isNoted: true,
  },
  {
    table: 'facilitator_total',
    by: ['facilitator'],
    values: { ...ends({ recipient: false, role: 'facilitator' }, lastArchived), n, amount },
  },
]

function isRolledUp(block: string): string {
  return `not exists (select from settlement_unrolled u where u.chain = $1 and ${block} between u.from_block and u.to_block)`
}

/**
 * The settlements themselves are read once, for all tables, each as sums of one: grouped once for all before, they would
 * hardly get fewer, as who pays an agent once pays it in no other hour, and adding sums up takes longer than rows.
 */
const factColumns = (
  of: (column: 'overload' | 'amount' | 'block' | 'at' | 'recipient' | 'payer' | 'facilitator') => string,
) => `
  select ${of('recipient')}, ${of('payer')}, ${of('facilitator')}, date_trunc('hour', ${of('at')}, 'UTC') as hour, ${of('overload')} as overload,
         ${of('block')} as first_block, ${of('block')} as last_block,
         ${of('at')} as first_at, case when ${of('amount')} > 0 then ${of('at')} end as first_paid_at,
         ${of('at')} as last_at, 1 as n, ${of('amount')}`

const ofSettlement = { overload: `(not ${isListed('s.selector')})`, block: 's.block_number', at: 's.block_timestamp' }

/** SQL query: the settlements `s` of a condition. */
export const storedFacts = (condition: string) => `
  ${factColumns((column) => ofSettlement[column as keyof typeof ofSettlement] ?? `s.${column}`)}
    from settlement s
   where s.chain = $1 and ${condition}`

/** A settlement that came or went, as `movedColumns` read it from the table. */
export interface MovedSettlement {
  readonly recipient: Buffer
  readonly payer: Buffer
  readonly facilitator: Buffer
  readonly overload: boolean
  readonly block: number
  readonly at: Date
  /** Base units. */
  readonly amount: string
}

const moved = [
  { name: 'recipient', type: 'bytea', from: 'recipient' },
  { name: 'payer', type: 'bytea', from: 'payer' },
  { name: 'facilitator', type: 'bytea', from: 'facilitator' },
  { name: 'overload', type: 'boolean', from: `not ${isListed('selector')}` },
  { name: 'block', type: 'int', from: 'block_number' },
  { name: 'at', type: 'timestamptz', from: 'block_timestamp' },
  { name: 'amount', type: 'bigint', from: 'amount::text' },
] as const

/** SQL expressions for the columns of a `MovedSettlement`, of a row of `settlement`. */
export const movedColumns = moved.map(({ name, from }) => `${from} as ${name}`).join(', ')

/** SQL query: of settlements that are given by `movedArrays` from $2 on, those of blocks that are rolled up. */
export const movedFacts = `
  ${factColumns((column) => `m.${column}`)}
    from unnest(${moved.map(({ type }, at) => `$${at + 2}::${type}[]`).join(', ')}) as m (${moved.map(({ name }) => name).join(', ')})
   where ${isRolledUp('m.block')}`

export const movedArrays = (rows: readonly MovedSettlement[]) => moved.map(({ name }) => rows.map((row) => row[name]))

/**
 * SQL query: agents whose payers are kept by when each of them paid last, with an address, an SQL expression, among those they
 * had when keeping them began. What they have now does not matter: an address may go and come back before it is derived.
 */
const keptFor = (address: string) => `
  select d.fid from figure_derivation d where d.addresses @> array[${address}] offset 0`

/**
 * SQL: notes pairs of the relation `moved` (recipient, payer, chain, overload, before, back), a common table expression, for
 * the agents whose payers are kept. Agents are looked up once for a recipient, whoever paid it.
 */
export const notePairs = (moved: string) => `
  insert into payer_move (fid, recipient, payer, chain, overload, before, back)
  select agent.fid, moved.recipient, moved.payer, moved.chain, moved.overload, moved.before, moved.back
    from (select recipient, kept.fid
            from (select distinct recipient from ${moved}) paid
           cross join lateral (${keptFor('paid.recipient')}) kept) agent
    join ${moved} moved using (recipient)`

/** Agents are looked up once for a recipient, whoever paid it. */
const noteAdded = `
  insert into payer_move (fid, recipient, payer, chain, overload, before, back)
  select m.fid, m.recipient, m.payer, $1, m.overload, t.last_at, false
    from (select kept.fid, kept.recipient, fact.payer, fact.overload, max(fact.last_at) as last_at
            from kept join fact using (recipient)
           group by 1, 2, 3, 4) m
    left join lateral (
      select p.last_at
        from settlement_payer p
       where (p.recipient, p.payer, p.chain, p.overload) = (m.recipient, m.payer, $1, m.overload)
      offset 0
    ) t on true
   where t.last_at is null or t.last_at < m.last_at`

/** SQL: adds `facts`, a query, to what is stored; they must not be in it yet. One row: `added`, how many. */
export function addSums(facts: string): string {
  return `
with fact as materialized (${facts}),
${tables.map(added).join(',\n')},
kept as materialized (
  select fid, recipient from settlement_total_stored cross join lateral (${keptFor('recipient')}) agent
),
noted as (${noteAdded})
select count(*)::int as added from fact`
}

/** In the order of the key, so that neighbours in the index are written one after the other. */
function added({ table, by, values, returning }: Sums): string {
  const key = [...by, 'overload'].join(', ')
  const names = Object.keys(values)
  return `
${table}_stored as (
  insert into ${table} as t (${key}, chain, ${names.join(', ')})
  select ${key}, $1, ${Object.values(values).map(({ of }) => of)}
    from fact
   group by ${key}
   order by ${key}
      on conflict (${key}, chain) do update
     set ${Object.entries(values).map(([name, { add }]) => `${name} = ${add(`excluded.${name}`)}`)}${
       returning
         ? `
  returning ${returning}`
         : ''
     }
)`
}

/** SQL statements, to be run in order, that take `facts`, a query, off what is stored; none of them is in `settlement`. */
export const subtractSums = (facts: string) =>
  tables.map(({ table, by, values, isNoted }) => {
    const key = [...by, 'overload']
    const names = Object.keys(values)
    const same = (one: string, other: string) => key.map((name) => `${one}.${name} = ${other}.${name}`).join(' and ')
    return {
      table,
      text: `
with gone as materialized (
  select ${key}, min(first_block) as first_block, max(last_block) as last_block, min(first_at) as first_at, max(last_at) as last_at,
         min(first_paid_at) as first_paid_at, min(first_block) filter (where amount > 0) as paid_block,
         sum(n) as n, sum(amount) as amount
    from (${facts}) fact
   group by ${key}
),
kept as materialized (
  select ${key.map((name) => `t.${name}`)}, ${names.map((name) => `${values[name]?.left} as ${name}`)}
    from gone
    join ${table} t on ${same('t', 'gone')} and t.chain = $1
),
removed as (
  delete from ${table} t using kept where ${same('t', 'kept')} and t.chain = $1 and kept.n = 0
)${
        isNoted
          ? `,
moved as materialized (
  select ${key.map((name) => `t.${name}`)}, t.chain, t.last_at as before, true as back
    from kept join settlement_payer t on ${same('t', 'kept')} and t.chain = $1
   where kept.n = 0 or kept.last_at <> t.last_at
),
noted as (${notePairs('moved')})`
          : ''
      }
update ${table} t
   set ${names.map((name) => `${name} = kept.${name}`)}
  from kept
 where ${same('t', 'kept')} and t.chain = $1 and kept.n <> 0`,
    }
  })
