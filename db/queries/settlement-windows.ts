import { isListed } from './selectors.ts'

/** A stretch of time up to now that settlements are counted over. */
export interface Window {
  /** Of the columns `<name>` (a count) and `<name>_amount` (base units). */
  readonly name: string
  /** SQL expression of the time it begins after; null: since the first block. */
  readonly since: string | null
}

/** SQL expressions written in this folder, never values. */
export interface Counted {
  /** A relation with one row for each recipient and a column `address`; it is scanned several times. */
  readonly recipients: string
  /** They are some hundreds at most: each is looked up, instead of reading what everybody received. */
  readonly few: boolean
  /** Whether amounts are summed up too: exact sums of many rows take longer than counting them. */
  readonly amounts: boolean
  /** A boolean: count the overloads with a signature in bytes too. */
  readonly overloads: string
  readonly windows: readonly Window[]
}

/**
 * A statement with the columns address, `<name>` and, with `amounts`, `<name>_amount`, whose rows, summed up by address, are what counting
 * the settlements themselves comes to, to the row: full hours come from the roll-up; the hour that a window begins in,
 * and blocks that are not rolled up, from the settlements. An address without a settlement may be absent.
 */
export function countedSettlements(counted: Counted): string {
  const edges = counted.windows.filter(({ since }) => since !== null)
  return [fullHours(counted), ...edges.map((edge) => firstHour(counted, edge)), unrolled(counted)].join('\n union all')
}

const hourOf = (time: string) => `date_trunc('hour', ${time}, 'UTC')`
const columns = ({ windows, amounts }: Counted, column: (window: Window) => [count: string, amount: string]) =>
  windows
    .flatMap((window) => {
      const [count, amount] = column(window)
      return [`${count} as ${window.name}`, ...(amounts ? [`${amount} as ${window.name}_amount`] : [])]
    })
    .join(', ')

/** Rows that no window counts need not be read. */
function inAny(windows: readonly Window[], condition: (since: string) => string): string {
  const conditions = windows.map(({ since }) => (since === null ? 'true' : condition(since)))
  return conditions.includes('true') ? 'true' : `(${conditions.join(' or ')})`
}

function fullHours(counted: Counted): string {
  const { recipients, few, amounts, overloads, windows } = counted
  const after = (since: string) => `h.hour > ${hourOf(since)}`
  // Selected, the hour is computed once instead of for every row.
  const counts = columns(counted, ({ since }) => {
    const filter = since === null ? '' : `filter (where h.hour > (select ${hourOf(since)}))`
    return [`coalesce(sum(h.n) ${filter}, 0)`, `coalesce(sum(h.amount) ${filter}, 0)`]
  })
  const shown = `(${overloads} or not h.overload) and ${inAny(windows, after)}`
  if (few) {
    // Summed up recipient by recipient, so that thousands of hours need not be sorted by them.
    const names = windows.flatMap(({ name }) => (amounts ? [name, `${name}_amount`] : [name]))
    return `
select payee.address, ${names.map((name) => `h.${name}`).join(', ')}
  from ${recipients} as payee
 cross join lateral (select ${counts} from settlement_hourly h where h.recipient = payee.address and ${shown}) h`
  }
  return `
select h.recipient as address, ${counts}
  from ${recipients} as payee
  join settlement_hourly h on h.recipient = payee.address
 where ${shown}
 group by h.recipient`
}

/**
 * Of the hour a window begins in: the roll-up knows between which blocks its settlements are.
 *
 * Here and below, `offset 0` keeps the lookup a lookup: the planner cannot know that a range of blocks is short, and
 * would read all that a recipient ever received.
 */
function firstHour(counted: Counted, edge: Window): string {
  const { recipients, overloads } = counted
  const counts = columns(counted, ({ name }) => (name === edge.name ? ['count(*)', 'sum(s.amount)'] : ['0', '0']))
  return `
select h.recipient, ${counts}
  from ${recipients} as payee
  join settlement_hourly h on h.recipient = payee.address and h.hour = ${hourOf(edge.since as string)}
 cross join lateral (
   select s.amount
     from settlement s
    where s.chain = h.chain and s.recipient = h.recipient and s.block_number between h.first_block and h.last_block
      and h.overload <> ${isListed('s.selector')}
      and s.block_timestamp > ${edge.since} and s.block_timestamp < h.hour + interval '1 hour'
      and not exists (select from settlement_unrolled u
                       where u.chain = s.chain and s.block_number between u.from_block and u.to_block)
   offset 0
 ) s
 where ${overloads} or not h.overload
 group by h.recipient`
}

function unrolled(counted: Counted): string {
  const { recipients, few, amounts, overloads, windows } = counted
  const after = (since: string) => `s.block_timestamp > ${since}`
  const counts = columns(counted, ({ since }) => {
    const filter = since === null ? '' : `filter (where ${after(since)})`
    return [`count(*) ${filter}`, `coalesce(sum(s.amount) ${filter}, 0)`]
  })
  const inRange = `s.chain = u.chain and s.block_number between u.from_block and u.to_block
      and (${overloads} or ${isListed('s.selector')}) and ${inAny(windows, after)}`
  if (few) {
    return `
select payee.address, ${counts}
  from ${recipients} as payee
 cross join settlement_unrolled u
 cross join lateral (
   select s.amount, s.block_timestamp
     from settlement s
    where s.recipient = payee.address and ${inRange}
   offset 0
 ) s
 group by payee.address`
  }
  const names = windows.flatMap(({ name }) => (amounts ? [name, `${name}_amount`] : [name]))
  return `
select s.recipient, ${names.map((name) => `s.${name}`).join(', ')}
  from settlement_unrolled u
 cross join lateral (
   select s.recipient, ${counts}
     from settlement s
    where ${inRange}
    group by s.recipient
   offset 0
 ) s
  join ${recipients} as payee on payee.address = s.recipient`
}

/**
 * An expression: time of the newest settlement to any of the addresses, null when there is none. Settlements of a chain
 * get newer from block to block.
 */
export function newestSettlement(addresses: string, chains: string, overloads: string): string {
  return `(
  select max(newest.block_timestamp)
    from unnest(${addresses}) as payee (address)
   cross join unnest(${chains}) as chain (name)
   cross join lateral (
     select s.block_timestamp
       from settlement s
      where s.recipient = payee.address and s.chain = chain.name and (${overloads} or ${isListed('s.selector')})
      order by s.block_number desc
      limit 1
   ) newest)`
}
