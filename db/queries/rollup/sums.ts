import { archivedTo } from '../sql/block-states.ts'
import { isListed } from '../sql/selectors.ts'

// Statements that keep the four tables settlements are summed up in: by recipient and hour, by recipient, by recipient
// and payer, by recipient and sender of the transaction. $1 is the chain.

interface Sums {
  readonly table: string
  /** Columns of the table's key besides `chain` and `overload`. */
  readonly by: readonly string[]
  readonly values: readonly (keyof typeof values)[]
}

const tables: readonly Sums[] = [
  { table: 'settlement_hourly', by: ['recipient', 'hour'], values: ['first_block', 'last_block', 'n', 'amount'] },
  { table: 'settlement_total', by: ['recipient'], values: ['last_at', 'n', 'amount'] },
  {
    table: 'settlement_payer',
    by: ['recipient', 'payer'],
    values: ['first_at', 'first_paid_at', 'last_at', 'n', 'amount'],
  },
  {
    table: 'settlement_facilitator',
    by: ['recipient', 'facilitator'],
    values: ['first_at', 'last_at', 'n', 'amount'],
  },
]

/** When the first settlement with an amount was: sums from before it was kept say when the first of all was. */
const firstPaidAt = (sum: string) =>
  `coalesce(${sum}.first_paid_at, case when ${sum}.amount > 0 then ${sum}.first_at end)`

/** How several sums become one, and how more is added to what is stored. */
const values = {
  first_block: { over: 'min', add: (stored: string, more: string) => `least(${stored}, ${more})` },
  last_block: { over: 'max', add: (stored: string, more: string) => `greatest(${stored}, ${more})` },
  first_at: { over: 'min', add: (stored: string, more: string) => `least(${stored}, ${more})` },
  first_paid_at: {
    over: 'min',
    add: (_: string, more: string) => `least(${firstPaidAt('t')}, ${more})`,
  },
  last_at: { over: 'max', add: (stored: string, more: string) => `greatest(${stored}, ${more})` },
  n: { over: 'sum', add: (stored: string, more: string) => `${stored} + ${more}` },
  amount: { over: 'sum', add: (stored: string, more: string) => `${stored} + ${more}` },
}

/** Adds the settlements `s` of a condition to what is stored; they must not be in it yet. One row: `added`, how many. */
export function addSums(condition: string): string {
  return `
with fact as materialized (${facts(condition)}),
${tables.map((sums) => stored(sums, (name) => values[name].add(`t.${name}`, `excluded.${name}`))).join(',\n')}
select count(*)::int as added from fact`
}

/**
 * Makes what is stored of some recipients, a relation, what their settlements `s` of a condition come to, with the sums that
 * were kept of archived ones. Hours with archived settlements stay as they are.
 */
export function recountSums(recipients: string, condition: string): string {
  return `
with recipient as materialized (${recipients}),
fact as materialized (${facts(`s.recipient in (select recipient from recipient) and ${condition} and s.block_number > ${archivedTo('$1')}`)}
   union all
  select a.recipient, a.payer, a.facilitator, null, a.overload, null, null, a.first_at, ${firstPaidAt('a')}, a.last_at, a.n, a.amount
    from settlement_archive_sum a
    join settlement_archive on settlement_archive.chain = a.chain and settlement_archive.from_block = a.archive_block
   where a.chain = $1 and a.recipient in (select recipient from recipient)),
${tables.flatMap((sums) => [stored(sums, (name) => `excluded.${name}`, isRecounted), removed(sums)]).join(',\n')}
select`
}

/** Whether an hour has no archived settlements. */
const isRecounted = (hour: string) =>
  `${hour} > coalesce((select a.until from settlement_archived a where a.chain = $1), '-infinity')`

/**
 * The settlements themselves are read once, for all four tables, each as sums of one: grouped once for all before, they
 * would hardly get fewer, as who pays an agent once pays it in no other hour, and adding sums up takes longer than rows.
 */
function facts(condition: string): string {
  return `
  select s.recipient, s.payer, s.facilitator, date_trunc('hour', s.block_timestamp, 'UTC') as hour, not ${isListed('s.selector')} as overload,
         s.block_number as first_block, s.block_number as last_block,
         s.block_timestamp as first_at, case when s.amount > 0 then s.block_timestamp end as first_paid_at,
         s.block_timestamp as last_at, 1 as n, s.amount
    from settlement s
   where s.chain = $1 and ${condition}`
}

/** In the order of the key, so that neighbours in the index are written one after the other. */
function stored(
  { table, by, values: names }: Sums,
  update: (name: keyof typeof values) => string,
  isMeant = (_hour: string) => 'true',
): string {
  const key = [...by, 'overload'].join(', ')
  return `
${table}_stored as (
  insert into ${table} as t (${key}, chain, ${names.join(', ')})
  select ${key}, $1, ${names.map((name) => `${values[name].over}(${name})`).join(', ')}
    from fact
   where ${by.includes('hour') ? isMeant('hour') : 'true'}
   group by ${key}
   order by ${key}
      on conflict (${key}, chain) do update
     set ${names.map((name) => `${name} = ${update(name)}`).join(', ')}
)`
}

function removed({ table, by }: Sums): string {
  const key = [...by, 'overload']
  return `
${table}_removed as (
  delete from ${table} t
   using recipient
   where t.chain = $1 and t.recipient = recipient.recipient${by.includes('hour') ? ` and ${isRecounted('t.hour')}` : ''}
     and not exists (select from fact where ${key.map((name) => `fact.${name} = t.${name}`).join(' and ')})
)`
}
