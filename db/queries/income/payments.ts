import type { ChainName } from '../../../config/chains.ts'
import { hourKey } from '../../due/paid-hours.ts'
import type { Queryable } from '../../pool.ts'
import { availableSince, isArchived } from '../sql/block-states.ts'
import {
  countedAmount,
  countedPaymentColumns,
  dueHours,
  otherPayments,
  paymentColumns,
  settlementAsPayment,
  settlementKind,
} from '../sql/income.ts'
import { exactDollars, exactUnits, hex, isoTime } from '../sql/json-text.ts'
import { receivedSettlements, settlementOrder } from '../sql/received-settlements.ts'
import { isListed, settlementConditions, settlementKey } from '../sql/settlement-filter.ts'
import { evidence, incomeFlag, ownAmong } from './payment-marks.ts'

interface Payments {
  readonly fid: number
  readonly limit: number
  readonly order: 'asc' | 'desc'
  readonly filter: {
    readonly chain: readonly ChainName[] | null
    /** ISO times; `since` inclusive, `until` exclusive; null: no bound. */
    readonly since: string | null
    readonly until: string | null
  }
  /** Cursor: time (microseconds since 1970), chain, block and log index of the last row before the page. */
  readonly after?: readonly string[] | undefined
  /** Rows are arrays of these instead of objects with all: of thousands of rows much of the text is names. */
  readonly columns?: readonly PaymentColumn[]
}

interface PaymentPage {
  /** JSON array. */
  readonly rows: string
  readonly count: number
  /** Cursor of the next page; null: this is the last page. */
  readonly next: string[] | null
  /** Time from which on all rows are stored; null: none of the agent's was archived. */
  readonly availableSince: string | null
}

/**
 * A page of the payments that are an agent's income, those of blocks that are not final too. An agent with millions of
 * them costs no more than one with a few: settlements to an address are searched for hour by hour, other payments stand in
 * the order of time.
 */
export async function incomePayments(
  db: Queryable,
  { fid, limit, order, filter, after, columns }: Payments,
): Promise<PaymentPage> {
  const values: unknown[] = [fid, limit]
  const parameter = (value: unknown, type: string) => `$${values.push(value)}::${type}`
  const all = {
    ...filter,
    payer: null,
    facilitator: null,
    selector: null,
    min_amount: null,
    max_amount: null,
    final: null,
  }
  const { rows, hours } = settlementConditions(all, { order, after, parameter })
  const one = '(select $2::int + 1)'
  const settled = receivedSettlements({
    limit: one,
    order,
    overloads: 'true',
    hours: [...hours, ...itsHours],
    rows: [...rows, ...itsTime],
  })
  // Unnamed: planned with its values, as filters that are there and those that are not want other plans.
  const found = await db.query<PaymentPage>({
    text: `
with recipient as materialized (${whenIts}),
recent as (
  select s.*
    from ((select ${settlementKind(`not ${isListed('s.selector')}`)} as kind, ${settlementAsPayment}
             from recipient cross join lateral (${settled}) s
            order by ${settlementOrder(order)} limit ${one})
           union all
          (select s.kind, ${paymentColumns}
             from recipient
            cross join lateral (
              select s.kind, ${countedPaymentColumns} from ${otherPayments}
               ${countedAmount('$1', 's')}
               where ${['s.recipient = recipient.address', ...rows, ...itsTime].join(' and ')}
               order by ${settlementOrder(order)} limit ${one}) s
            order by ${settlementOrder(order)} limit ${one})) s
   order by ${settlementOrder(order)} limit ${one}
),
page as materialized (select * from recent s order by ${settlementOrder(order)} limit $2),
${ownAmong('$1', 'select payer from page union select funder from page where funder is not null')}
select coalesce((select json_agg(${paymentAs(columns)} order by ${settlementOrder(order)})
                   from page s
                   left join facilitator_sender f on f.address = s.facilitator
                   left join chain_state state on state.chain = s.chain), '[]')::text as rows,
       (select count(*)::int from page) as count,
       (select ${settlementKey} from page s
         where (select count(*) from recent) > $2
         order by ${settlementOrder(order === 'desc' ? 'asc' : 'desc')} limit 1) as next,
       ${availableSince(parameter(filter.chain, 'text[]'), itMisses)} as "availableSince"`,
    values,
  })
  return found.rows[0] ?? { rows: '[]', count: 0, next: null, availableSince: null }
}

/**
 * A statement: the addresses of the agent $1, with each period in which they are its own: periods of a chain that overlap
 * are one, so that no payment is found twice. An address is of every chain ('') or of single ones, never both.
 */
const whenIts = `
  select its.address, its.chain, lower(period) as from_at, upper(period) as to_at
    from (select address, chain, range_agg(tstzrange(from_at, to_at)) as periods
            from income_address where fid = $1 group by address, chain) its
   cross join lateral unnest(its.periods) period`

// A wallet may have been paid a million times before it was the agent's: nothing outside the periods is searched.
const itsHours = [
  `recipient.chain in ('', h.chain)`,
  `h.hour > recipient.from_at - interval '1 hour'`,
  'h.hour < recipient.to_at',
]
/** Whether the agent was paid in archived blocks of the chain `a`. */
const itMisses = `exists (
         select from recipient
           join settlement_hourly h on h.recipient = recipient.address
          where h.chain = a.chain and h.hour <= a.until and h.first_block <= a.to_block
            and ${itsHours.join(' and ')})`
const itsTime = [
  `recipient.chain in ('', s.chain)`,
  's.block_timestamp >= recipient.from_at',
  's.block_timestamp < recipient.to_at',
]

/**
 * Lower bound on the number of an agent's income payments, from its hours alone: those that lie wholly in the period,
 * are summed up, and have all their payments in the database.
 */
export async function countedIncomePayments(
  db: Queryable,
  { fid, filter: { chain, since, until } }: Pick<Payments, 'fid' | 'filter'>,
): Promise<number> {
  // Unnamed, so planned for the queue as it is: a plan kept from when it was empty reads all of it, dead rows as well.
  const { rows } = await db.query<{ n: number }>({
    text: `
with recipient as materialized (select distinct address from income_address where fid = $1)
select coalesce(sum(i.n), 0)::float8 as n
  from income_hour i
 where i.fid = $1 and i.hour >= coalesce($2::timestamptz, '-infinity')
   and i.hour <= coalesce($3::timestamptz - interval '1 hour', 'infinity')
   and ($4::text[] is null or i.chain = any ($4))
   and i.recipient in (select address from recipient)
   and ${hourKey('i.recipient', 'i.chain', 'i.hour')} not in (
     select key from recipient cross join lateral (select d.key from ${dueHours('recipient.address')}) d)
   and not ${isArchived('i.chain', 'i.hour')}`,
    values: [fid, since, until, chain],
  })
  return rows[0]?.n ?? 0
}

const paymentFields = {
  tx_hash: hex('s.tx_hash'),
  block_number: 's.block_number',
  log_index: 's.log_index',
  block_timestamp: isoTime('s.block_timestamp'),
  chain: 's.chain',
  payer_address: hex('s.payer'),
  recipient_address: hex('s.recipient'),
  token_address: hex('s.token'),
  amount: exactUnits('s'),
  amount_usdc: `case when s.is_dollar then ${exactDollars('s', 's.amount')} end`,
  kind: 's.kind',
  forwarder_address: hex('s.forwarder'),
  funder_address: hex('s.funder'),
  flag: incomeFlag('$1', 's', 'own'),
  facilitator_address: hex('s.facilitator'),
  facilitator_name: 'f.name',
  builder_codes: `(select json_build_object('facilitator', c.facilitator, 'app', c.app, 'services', c.services)
                        from builder_code c
                       where (c.chain, c.block_number, c.log_index) = (s.chain, s.block_number, s.log_index))`,
  x402_evidence: evidence('s'),
  wallet_chain: `(select wallet_chain_of(v.verification_type, v.verification_chain, s.chain)
                        from verified_address v
                       where v.fid = $1 and v.address = s.recipient and v.ended_at is null)`,
  final: 'coalesce(s.block_number <= state.finalized_block, false)',
} as const
type PaymentColumn = keyof typeof paymentFields

function paymentAs(columns: readonly PaymentColumn[] | undefined): string {
  // As text: a JavaScript number would round large amounts.
  const cell = (name: PaymentColumn) =>
    name === 'amount_usdc' ? `(${paymentFields[name]})::text` : paymentFields[name]
  if (columns) return `json_build_array(${columns.map(cell).join(', ')})`
  return `json_build_object(${Object.entries(paymentFields)
    .map(([name, field]) => `'${name}', ${field}`)
    .join(',\n    ')})`
}
