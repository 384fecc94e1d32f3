import { archivedTo, isRolledUp, unrolledBlocks } from './block-states.ts'
import { exactDollars, hex, isoTime } from './json-text.ts'
import { isListed } from './settlement-filter.ts'

/** SQL expressions written in this folder, never values. */
interface Received {
  /** Rows at most. */
  readonly limit: string
  readonly order: 'asc' | 'desc'
  /** A boolean: the overloads with a signature in bytes too. */
  readonly overloads: string
  /** Conditions on hours `h` and on settlements `s`; `first` also bounds what is looked up by block. */
  readonly hours?: readonly string[]
  readonly rows?: readonly string[]
}

/** The order of settlements, over a relation `s`. */
export const settlementOrder = (order: 'asc' | 'desc') =>
  ['block_timestamp', 'chain', 'block_number', 'log_index'].map((name) => `s.${name} ${order}`).join(', ')

/** Whether blocks of an hour `h` are still in the database: nothing is looked for in the others. */
const isThere = `h.last_block > ${archivedTo('h.chain')}`

/** More than a recipient can have. Without a limit the planner has all of them read and sorted before the first is used. */
const allHours = 2_147_483_647

/**
 * A statement: the first settlements, in order, to the address `recipient.address`. Searched for hour by hour, as far as
 * the roll-up says that there are some: a recipient may have millions of rows that are not shown next to a few that
 * are. Blocks that are not rolled up are read themselves.
 *
 * Each hour is sorted on its own, and no hour is read once there are enough.
 */
export function receivedSettlements({ limit, order, overloads, hours = [], rows = [] }: Received): string {
  const shown = `(${overloads} or ${isListed('s.selector')})`
  const blocks = `s.block_number ${order}, s.log_index ${order}`
  const and = (conditions: readonly string[]) => conditions.map((condition) => ` and ${condition}`).join('')
  return `
with ${unrolledBlocks}
select s.*
  from ((select s.*
           from unrolled_blocks u
          cross join lateral (
            select s.*
              from settlement s
             where s.recipient = recipient.address and s.chain = u.chain
               and s.block_number between u.from_block and u.to_block and ${shown}${and(rows)}
             order by ${blocks}
             limit ${limit}
          ) s
          order by ${settlementOrder(order)}
          limit ${limit})
         union all
        (select s.*
           from (select * from settlement_hourly h
                  where h.recipient = recipient.address and (${overloads} or not h.overload)${and(hours)}
                  order by h.hour ${order}
                  limit ${allHours}) h
          cross join lateral (
            select s.*
              from settlement s
             where s.recipient = h.recipient and s.chain = h.chain
               and s.block_number between h.first_block and h.last_block
               and h.overload <> ${isListed('s.selector')}${and(rows)} and ${isThere}
               and ${isRolledUp('s')}
             order by ${blocks}
             limit ${limit}
          ) s
          order by h.hour ${order}, ${settlementOrder(order)}
          limit ${limit})) s
 order by ${settlementOrder(order)}
 limit ${limit}`
}

/** Settlements of a recipient that are looked at for a page, and those of one more hour. */
const mostExamined = 10_000

/**
 * How far a search along the hours goes that may find little: `edge`, the common table expression `edge` over the relation
 * `recipient`, with the hour that ends it, null when it goes to the end; conditions on hours `h` and on settlements `s`
 * up to there; and, as SQL, the place in the order where the next search begins (`settlementKey`).
 */
export function examinedHours({
  order,
  overloads,
  hours,
  most = mostExamined,
}: Pick<Received, 'order' | 'overloads'> & { readonly hours: readonly string[]; readonly most?: number }) {
  const [nearest, operator] = order === 'desc' ? ['max', '>='] : ['min', '<=']
  const beyond =
    order === 'desc' ? `h.hour > coalesce(reached.hour, '-infinity')` : `h.hour < coalesce(reached.hour, 'infinity')`
  const end = `(select hour from edge)`
  const micros = (time: string) => `(extract(epoch from ${time}) * 1000000)::bigint`
  return {
    edge: `
edge as materialized (
  with recursive
  -- The one with the most first: its end is near, and no other's hours are read beyond it.
  busy as materialized (
    select array(select address from recipient
                  order by (select sum(t.n) from settlement_total t where t.recipient = address) desc nulls last) as addresses
  ),
  reached as (
    select 0 as place, null::timestamptz as hour
     union all
    select reached.place + 1, coalesce(one.hour, reached.hour)
      from reached
     cross join busy
      left join lateral (
        select h.hour
          from (select h.hour, sum(h.n) over (order by h.hour ${order}) as examined
                  -- An hour has a settlement at least. A limit as a value unknown has the index read, to where they suffice.
                  from (select h.hour, h.n
                          from settlement_hourly h
                         where h.recipient = busy.addresses[reached.place + 1] and (${overloads} or not h.overload)
                           and ${[beyond, isThere, ...hours].join(' and ')}
                         order by h.hour ${order}
                         limit (select ${most})) h) h
         where examined >= ${most}
         order by h.hour ${order}
         limit 1
      ) one on true
     where reached.place < cardinality(busy.addresses)
  )
  select ${nearest}(hour) as hour from reached
)`,
    hours: [`h.hour ${operator} coalesce(${end}, '${order === 'desc' ? '-infinity' : 'infinity'}')`],
    rows: [
      order === 'desc'
        ? `s.block_timestamp >= coalesce(${end}, '-infinity')`
        : `s.block_timestamp < coalesce(${end} + interval '1 hour', 'infinity')`,
    ],
    // Beyond whatever may stand at the end of the hour, whichever its chain and block.
    next:
      order === 'desc'
        ? `(select array[(${micros('hour')} - 1)::text, repeat('z', 40), '2147483647', '2147483647'] from edge where hour is not null)`
        : `(select array[${micros(`hour + interval '1 hour'`)}::text, '0', '0', '0'] from edge where hour is not null)`,
  }
}

/** A settlement `s` as JSON, with `s.final` next to its columns. */
export const settlementObject = `json_build_object(
      'tx_hash', ${hex('s.tx_hash')},
      'block_number', s.block_number,
      'block_timestamp', ${isoTime('s.block_timestamp')},
      'payer_address', ${hex('s.payer')},
      'recipient_address', ${hex('s.recipient')},
      'amount_usdc', ${exactDollars('s', 's.amount')},
      'chain', s.chain,
      'selector', ${hex('s.selector')},
      'log_index', s.log_index,
      'payment_nonce', ${hex('s.payment_nonce')},
      'facilitator_address', ${hex('s.facilitator')},
      'final', coalesce(s.final, false)
    )`
