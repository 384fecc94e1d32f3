/** A window of time, up to now, in which settlements are counted. */
interface Window {
  /** Name of the column with the count; `<name>_amount` has the sum in base units. */
  readonly name: string
  /** SQL expression of the time it begins after; null: since the first block. */
  readonly since: string | null
}

/** SQL: where each rolling window begins, given the time it ends at as SQL; what is counted in it is later. */
export const windowStart = {
  last_24h: (end: string) => `${end} - interval '24 hours'`,
  last_7d: (end: string) => `${end} - interval '7 days'`,
  last_30d: (end: string) => `${end} - interval '30 days'`,
} as const

/** SQL expressions written in this folder, never values. */
interface Counted {
  /** A relation with one row for each recipient, a few hundred at most, and a column `address`; it is scanned several times. */
  readonly recipients: string
  /** The relation that `unsummedTail` gives of these recipients and windows. */
  readonly tail: string
  /** Whether amounts are summed up too: exact sums of many rows take longer than counting them. */
  readonly amounts: boolean
  /** Whether there is a column `newest_at` with the time of the newest settlement; null: not known from this row. */
  readonly newest: boolean
  /** A boolean: count the overloads with a signature in bytes too. */
  readonly overloads: string
  readonly windows: readonly Window[]
}

/**
 * A statement with the columns address, `<name>` and, if wanted, `<name>_amount` and newest_at, whose rows, summed up
 * by address, are exactly what counting the settlements themselves would give, to the row. Windows since the first block come
 * from the totals and full hours from the hours; the hour that a window begins in, and blocks that are not rolled up,
 * from the settlements. An address without a settlement may be absent.
 */
export function countedSettlements(counted: Counted): string {
  const edges = counted.windows.filter(({ since }) => since !== null)
  return [
    ...(counted.newest || edges.length < counted.windows.length ? [totals(counted)] : []),
    ...(edges.length > 0 ? [fullHours(counted, edges)] : []),
    besideWindows(counted),
  ].join('\n union all')
}

/**
 * A relation: settlements to a few recipients (an array, each there once) that are not rolled up, and those of the hour that
 * a window begins in, behind its beginning `since`: recipient, payer, amount, block_timestamp, since. It names no partition
 * of settlements, which takes longer than reading the sums.
 */
export const unsummedTail = ({
  addresses,
  overloads,
  sinces,
}: {
  readonly addresses: string
  readonly overloads: string
  readonly sinces: readonly string[]
}): string => `settlements_beside_sums(${addresses}, array[${sinces.join(', ')}]::timestamptz[], ${overloads})`

/** The names of `countedSettlements`' columns but the address, in their order. */
export const countedColumns = ({ windows, amounts, newest }: Counted): string[] => [
  ...windows.flatMap(({ name }) => (amounts ? [name, `${name}_amount`] : [name])),
  ...(newest ? ['newest_at'] : []),
]

const hourOf = (time: string) => `date_trunc('hour', ${time}, 'UTC')`
const nothing = ['0', '0'] as const

/** The columns' expressions; the newest is unknown unless it is given. */
function columns(
  { windows, amounts, newest }: Counted,
  column: (window: Window) => readonly [count: string, amount: string],
  newestAt = 'null::timestamptz',
): string {
  const counts = windows.flatMap((window) => {
    const [count, amount] = column(window)
    return [`${count} as ${window.name}`, ...(amounts ? [`${amount} as ${window.name}_amount`] : [])]
  })
  return [...counts, ...(newest ? [`${newestAt} as newest_at`] : [])].join(', ')
}

/** Sums over a table's rows by recipient: of one after the other, so that nothing need be sorted by them. */
function summed(counted: Counted, { table, counts, shown }: { table: string; counts: string; shown: string }): string {
  return `
select recipient.address, ${countedColumns(counted)
    .map((name) => `t.${name}`)
    .join(', ')}
  from ${counted.recipients} as recipient
 cross join lateral (select ${counts} from ${table} t where t.recipient = recipient.address and ${shown}) t`
}

function totals(counted: Counted): string {
  const sums = ['coalesce(sum(t.n), 0)', 'coalesce(sum(t.amount), 0)'] as const
  const counts = columns(counted, ({ since }) => (since === null ? sums : nothing), 'max(t.last_at)')
  return summed(counted, { table: 'settlement_total', counts, shown: `(${counted.overloads} or not t.overload)` })
}

function fullHours(counted: Counted, edges: readonly Window[]): string {
  // Selected, the hour is computed once instead of for every row.
  const counts = columns(counted, ({ since }) => {
    if (since === null) return nothing
    // All hours that are read are those of the only window.
    const filter = edges.length === 1 ? '' : `filter (where t.hour > (select ${hourOf(since)}))`
    return [`coalesce(sum(t.n) ${filter}, 0)`, `coalesce(sum(t.amount) ${filter}, 0)`]
  })
  const recent = edges.map(({ since }) => `t.hour > ${hourOf(since as string)}`).join(' or ')
  const shown = `(${counted.overloads} or not t.overload) and (${recent})`
  return summed(counted, { table: 'settlement_hourly', counts, shown })
}

/** Settlements that are in no sum: those that are not rolled up, and those of the hour that a window begins in. */
function besideWindows(counted: Counted): string {
  const counts = columns(
    counted,
    ({ since }) => {
      const filter = `filter (where b.since is null${since === null ? '' : ` and b.block_timestamp > ${since} or b.since = ${since}`})`
      return [`count(*) ${filter}`, `coalesce(sum(b.amount) ${filter}, 0)`]
    },
    'max(b.block_timestamp)',
  )
  return `
select b.recipient, ${counts}
  from ${counted.tail} b
 group by b.recipient`
}

interface Figures {
  readonly addresses: string
  readonly overloads: string
  readonly since: string
}

/**
 * A statement of one row: settlements to some addresses, each there once, after a time (`recent`) and `ever`, to the row,
 * and the time of the newest (`newest_at`), null when there is none. What `countedSettlements` comes to, for a statement
 * that is asked often of few addresses: it names no partition, which takes longer than reading the sums. `tail`: the
 * relation that `tailFigures` gives of these addresses, and of others.
 */
export function settlementFigures({ addresses, overloads, since, tail }: Figures & { readonly tail: string }) {
  const shown = `t.recipient = any (${addresses}) and (${overloads} or not t.overload)`
  return `
select hours.n + tail.recent as recent, totals.n + tail.ever as ever,
       greatest(totals.newest_at, tail.newest_at) as newest_at
  from (select coalesce(sum(t.n), 0) as n, max(t.last_at) as newest_at from settlement_total t where ${shown}) totals
 cross join (select coalesce(sum(t.n), 0) as n
               from settlement_hourly t where t.hour > ${hourOf(since)} and ${shown}) hours
 cross join (select coalesce(sum(b.recent), 0) as recent, coalesce(sum(b.ever), 0) as ever, max(b.newest_at) as newest_at
               from ${tail} b where b.recipient = any (${addresses})) tail`
}

/**
 * A statement: the tail, what is not in the sums yet, of a few hundred addresses, each there once, by `recipient`, for `settlementFigures`
 * of each of them. To look at each address on its own takes longer to begin than to read.
 */
export const tailFigures = ({ addresses, overloads, since }: Figures): string => `
select b.recipient, count(*) filter (where b.since is not null or b.block_timestamp > ${since}) as recent,
       count(*) filter (where b.since is null) as ever, max(b.block_timestamp) as newest_at
  from ${unsummedTail({ addresses, overloads, sinces: [since] })} b
 group by b.recipient`
