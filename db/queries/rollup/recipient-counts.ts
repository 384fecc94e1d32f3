import type { Queryable } from '../../pool.ts'
import { besideSums, countedColumns, countedSettlements, windowStart } from '../sql/settlement-windows.ts'

export interface SettlementCounts {
  readonly fid: number
  readonly last7d: number
  readonly last30d: number
  readonly ever: number
  readonly newestAt: Date | null
}

interface CountOptions {
  readonly settlementOverloads: 'spec' | 'all'
  readonly now: Date
}

const windows = [
  ...Object.entries(windowStart).map(([name, start]) => ({ name, since: start('$1::timestamptz') })),
  { name: 'ever', since: null },
]

/** Counts of the recipients in a relation. The parameters $1 and $2 are the time and whether overloads count. */
const countedOf = (recipients: string, few: boolean) => ({
  recipients,
  beside: few
    ? besideSums({
        addresses: `array(select address from ${recipients})`,
        overloads: '$2::boolean',
        sinces: windows.flatMap(({ since }) => since ?? []),
      })
    : null,
  amounts: true,
  newest: true,
  overloads: '$2::boolean',
  windows,
})

/**
 * Rows are written in the order of addresses, so that two who count do not wait for each other in turn. Those that have
 * not changed are left out before: a conflict alone would lock each of them, and locks are writes.
 */
function storedCounts(recipients: string, few: boolean): string {
  const counted = countedOf('recipient', few)
  const names = countedColumns(counted)
  const sums = names.map((name) => (name === 'newest_at' ? `max(${name})` : `coalesce(sum(${name}), 0)`))
  const row = (table: string) => `(${names.map((name) => `${table}.${name}`).join(', ')})`
  return `
with recipient as materialized (${recipients}),
paid as (
  select address, ${sums.map((sum, index) => `${sum} as ${names[index]}`).join(', ')}
    from recipient
    left join (${countedSettlements(counted)}) part using (address)
   group by address
)
insert into recipient_counts (address, ${names.join(', ')})
select paid.address, ${names.map((name) => `paid.${name}`).join(', ')}
  from paid
  left join recipient_counts stored using (address)
 where stored.address is null or ${row('stored')} is distinct from ${row('paid')}
 order by paid.address
    on conflict (address) do update
   set (${names.join(', ')}) = row${row('excluded')}`
}

/** Counts what all addresses of agents were paid. Unchanged rows are not written. Returns how many rows changed. */
export async function countRecipients(db: Queryable, { settlementOverloads, now }: CountOptions): Promise<number> {
  const { rowCount } = await db.query({
    name: 'count-recipients',
    text: storedCounts('select distinct unnest(verified_addresses) as address from agent', false),
    values: [now, settlementOverloads === 'all'],
  })
  return rowCount ?? 0
}

/** Counts what the addresses of some agents, a hundred at most, were paid. */
export async function countRecipientsOf(
  db: Queryable,
  { fids, settlementOverloads, now }: CountOptions & { fids: readonly number[] },
): Promise<void> {
  await db.query({
    name: 'count-recipients-of',
    text: storedCounts(
      'select distinct unnest(verified_addresses) as address from agent where fid = any ($3::bigint[])',
      true,
    ),
    values: [now, settlementOverloads === 'all', fids],
  })
}

/** Deletes the counts of addresses that no agent has any more. Rows locked by a writer are left to the next call. */
export async function forgetRecipients(db: Queryable): Promise<void> {
  await db.query({
    name: 'forget-recipients',
    text: `
with gone as (
  select c.address
    from recipient_counts c
   where not exists (select from (select unnest(verified_addresses) as address from agent) recipient
                      where recipient.address = c.address)
     for update of c skip locked
)
delete from recipient_counts where address in (select address from gone)`,
  })
}

/** Agents whose stored counts differ from those of their addresses, with the latter. */
export async function movedCounts(db: Queryable): Promise<SettlementCounts[]> {
  const { rows } = await db.query<SettlementCounts>({ name: 'moved-counts', text: movedWhere('true') })
  return rows
}

/** Those of the given agents whose stored counts differ from those of their addresses, with the latter. */
export async function movedCountsOf(db: Queryable, fids: readonly number[]): Promise<SettlementCounts[]> {
  const { rows } = await db.query<SettlementCounts>({
    name: 'moved-counts-of',
    text: movedWhere('fid = any ($1::bigint[])'),
    values: [fids],
  })
  return rows
}

function movedWhere(condition: string): string {
  return `
select fid, paid.last_7d as "last7d", paid.last_30d as "last30d", paid.ever, summed.newest_at as "newestAt"
  from agent a
  left join (select fid, sum(c.last_7d)::bigint as last_7d, sum(c.last_30d)::bigint as last_30d,
                    sum(c.ever)::bigint as ever, max(c.newest_at) as newest_at
               from (select fid, unnest(verified_addresses) as address from agent where ${condition}) recipient
               join recipient_counts c using (address)
              group by fid) summed using (fid)
 cross join lateral (select coalesce(summed.last_7d, 0) as last_7d, coalesce(summed.last_30d, 0) as last_30d,
                            coalesce(summed.ever, 0) as ever) paid
 where ${condition}
   and (a.settlements_7d, a.settlements_30d, a.settlements_all, a.last_settlement_at)
       is distinct from (paid.last_7d, paid.last_30d, paid.ever, summed.newest_at)
 order by fid`
}

/**
 * Stores counts on the agents' rows, for sorting and for candidates of rankings. Writes only rows that change and
 * returns their number.
 */
export async function storeSettlementCounts(db: Queryable, counts: readonly SettlementCounts[]): Promise<number> {
  const { rowCount } = await db.query({
    name: 'store-settlement-counts',
    text: `
update agent a
   set settlements_7d = c.last7d, settlements_30d = c.last30d, settlements_all = c.ever, last_settlement_at = c.newest_at
  from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::timestamptz[])
       as c (fid, last7d, last30d, ever, newest_at)
 where a.fid = c.fid
   and (a.settlements_7d, a.settlements_30d, a.settlements_all, a.last_settlement_at)
       is distinct from (c.last7d, c.last30d, c.ever, c.newest_at)`,
    values: [
      counts.map(({ fid }) => fid),
      counts.map(({ last7d }) => last7d),
      counts.map(({ last30d }) => last30d),
      counts.map(({ ever }) => ever),
      counts.map(({ newestAt }) => newestAt),
    ],
  })
  return rowCount ?? 0
}
