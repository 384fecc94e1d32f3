import type { Queryable } from '../../pool.ts'
import { activityOf, lockJoin } from '../agents/lock.ts'
import { lookUpByKey } from '../server/transaction-settings.ts'
import { isListed } from '../sql/settlement-filter.ts'
import { countedColumns, countedSettlements, unsummedTail, windowStart } from '../sql/settlement-windows.ts'

interface CountOptions {
  readonly settlementOverloads: 'spec' | 'all'
  readonly now: Date
}

/** A time at which counts move without a new settlement. */
interface NextCount {
  /** Hex digits. */
  readonly key: string
  readonly dueAt: Date
}

const rolling = Object.entries(windowStart).map(([name, start]) => ({
  name,
  since: start('$1::timestamptz'),
  start,
}))
const windows = [...rolling, { name: 'ever', since: null }]

const counted = {
  recipients: 'recipient',
  tail: 'tail',
  amounts: false,
  newest: true,
  overloads: '$2::boolean',
  windows,
}
const names = countedColumns(counted)
const columns = ['address', ...names, 'unsummed', 'overloads', 'counted_at'].join(', ')

/** Common table expressions that end with `paid`: counts of the addresses in `recipient`, as rows of recipient_counts. */
const steps = `
tail as materialized (
  select * from ${unsummedTail({
    addresses: 'array(select address from recipient)',
    overloads: '$2::boolean',
    sinces: rolling.map(({ since }) => since),
  })}
),
paid as materialized (
  select ${columns}
    from (select address, ${names
      .map((name) => `${name === 'newest_at' ? 'max(newest_at)' : `coalesce(sum(${name}), 0)`} as ${name}`)
      .join(', ')}
            from recipient
            left join (${countedSettlements(counted)}) part using (address)
           group by address) sums
   cross join lateral (
     select exists (select from tail b where b.recipient = sums.address and b.since is null) as unsummed,
            $2::boolean as overloads, $1::timestamptz as counted_at) how
)`

const isOfAgent = (address: string) => `exists (
   select from verified_address v join agent a using (fid)
    where v.address = ${address} and ${address} = any (a.verified_addresses))`

/** Settlements in the hour that a window begins in leave it one by one; with each later hour the first of them may. */
const nextLeaves = rolling.map(({ since, start }) => {
  const span = `$1::timestamptz - (${start('$1::timestamptz')})`
  return `
       coalesce((select min(b.block_timestamp) from tail b where b.recipient = recipient.address and b.since = ${since}),
                (select h.hour from settlement_hourly h
                  where h.recipient = recipient.address and h.hour > date_trunc('hour', ${since}, 'UTC')
                    and ($2::boolean or not h.overload)
                  order by h.hour limit 1)) + (${span})`
})

/**
 * Counts what addresses were paid, given in hex digits; those that no agent has any more are forgotten. Unchanged rows are
 * not written. Returns those that move again by time alone, and when.
 *
 * Rows are written in the order of addresses, so that two who count do not wait for each other in turn.
 */
export async function countRecipients(
  db: Queryable,
  keys: readonly string[],
  { settlementOverloads, now }: CountOptions,
): Promise<NextCount[]> {
  const shown = [...names, 'unsummed', 'overloads']
  const row = (table: string) => `(${shown.map((name) => `${table}.${name}`).join(', ')})`
  const { rows } = await db.query<NextCount>({
    name: 'count-recipients',
    text: `
with asked as materialized (select decode(key, 'hex') as address from unnest($3::text[]) as key),
recipient as materialized (select address from asked where ${isOfAgent('asked.address')}),
gone as (
  delete from recipient_counts
   where address in (select address from asked) and address not in (select address from recipient)
),${steps},
stored as (
  insert into recipient_counts (${columns})
  select ${columns
    .split(', ')
    .map((name) => `paid.${name}`)
    .join(', ')}
    from paid
    left join recipient_counts kept using (address)
   where kept.address is null or ${row('kept')} is distinct from ${row('paid')}
   order by paid.address
      on conflict (address) do update
     set (${[...shown, 'counted_at'].join(', ')}) = row(${[...shown, 'counted_at'].map((name) => `excluded.${name}`).join(', ')})
)
select encode(address, 'hex') as key, leaves_at as "dueAt"
  from recipient
 cross join lateral least(${nextLeaves.join(',')}) as leaves_at
 where leaves_at is not null`,
    values: [now, settlementOverloads === 'all', keys],
  })
  return rows
}

/** Counts the addresses of agents, given by FID, that were not counted yet. */
async function countNewRecipients(
  db: Queryable,
  fids: readonly number[],
  { settlementOverloads, now }: CountOptions,
): Promise<void> {
  await db.query({
    name: 'count-new-recipients',
    text: `
with recipient as materialized (
  select distinct one.address
    from (select unnest(verified_addresses) as address from agent where fid = any ($3::bigint[])) one
   where not exists (select from recipient_counts c where c.address = one.address)
),${steps}
insert into recipient_counts (${columns}) select ${columns} from paid order by address on conflict do nothing`,
    values: [now, settlementOverloads === 'all', fids],
  })
}

/**
 * Makes those due of whose counts no row tells that they may have moved: who was paid in blocks that are not rolled up, or
 * was when last counted, and whoever was counted with other settlements than count now, or by a clock that was set back.
 */
export async function markMovedRecipients(db: Queryable, { settlementOverloads, now }: CountOptions): Promise<void> {
  await db.query({
    name: 'mark-moved-recipients',
    text: `
insert into due (kind, key)
select 'recipients', encode(address, 'hex')
  from (select address from recipient_counts where unsummed or overloads <> $2 or counted_at > $1
         union
        select s.recipient
          from settlement_unrolled u
         cross join lateral (
           select distinct s.recipient
             from settlement s
            where s.chain = u.chain and s.block_number between u.from_block and u.to_block
              and ($2 or ${isListed('s.selector')})
           offset 0
         ) s
          join recipient_counts c on c.address = s.recipient) moved`,
    values: [now, settlementOverloads === 'all'],
  })
}

/** Agents in `$1`, and what their addresses were paid, where that is not what is stored on their rows. */
const movedAgents = `
select a.fid, paid.*
  from agent a
 cross join lateral (
   select coalesce(sum(c.last_7d), 0) as last_7d, coalesce(sum(c.last_30d), 0) as last_30d,
          coalesce(sum(c.ever), 0) as ever, max(c.newest_at) as newest_at
     from recipient_counts c
    where c.address = any (a.verified_addresses)
 ) paid
 where a.fid = any ($1::bigint[])
   and (a.settlements_7d, a.settlements_30d, a.settlements_all, a.last_settlement_at)
       is distinct from (paid.last_7d, paid.last_30d, paid.ever, paid.newest_at)`

/** Those of some agents, given by FID, whose counters are not those of their addresses. */
async function agentsToCount(db: Queryable, fids: readonly number[]): Promise<number[]> {
  const { rows } = await db.query<{ fid: number }>({ name: 'agents-to-count', text: movedAgents, values: [fids] })
  return rows.map(({ fid }) => fid)
}

/** Makes the counters of agents, given by FID, those of their addresses, for sorting and for candidates of rankings. */
async function storeSettlementCounts(db: Queryable, fids: readonly number[]): Promise<void> {
  await db.query({
    name: 'store-settlement-counts',
    text: `
with counted as (
  select moved.*, a.settlements_30d, a.settlements_all, a.last_settlement_at
    from (${movedAgents}) moved join agent a using (fid)
),
active as (${activityOf(`select fid from counted
   where (last_30d, ever, newest_at) is distinct from (settlements_30d, settlements_all, last_settlement_at)`)})
update agent a
   set settlements_7d = moved.last_7d, settlements_30d = moved.last_30d, settlements_all = moved.ever,
       last_settlement_at = moved.newest_at
  from counted moved
 where a.fid = moved.fid`,
    values: [fids],
  })
}

interface AgentCountOptions {
  readonly fids: readonly number[]
  readonly settlementOverloads: 'spec' | 'all'
  readonly now: Date
}

/**
 * Makes the counters of some agents those of their addresses, in a transaction of the caller's. Under the join's lock:
 * writers of several agents could deadlock otherwise.
 */
export async function deriveCountsOf(db: Queryable, { fids, ...options }: AgentCountOptions): Promise<void> {
  await lookUpByKey(db)
  await countNewRecipients(db, fids, options)
  const moved = await agentsToCount(db, fids)
  if (moved.length === 0) return
  await lockJoin(db)
  await storeSettlementCounts(db, moved)
}
