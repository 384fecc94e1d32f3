import type { ChainName } from '../../../chains.config.ts'
import type { Queryable } from '../../pool.ts'
import { incomeFlag, incomeKind, paidAgents } from '../sql/income.ts'
import { dollars, hex, isoTime } from '../sql/json-text.ts'
import { receivedSettlements, settlementOrder } from '../sql/received-settlements.ts'
import { isListed } from '../sql/selectors.ts'
import { settlementConditions, settlementKey } from '../sql/settlement-filter.ts'

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
  /** Microseconds since 1970, chain, block and log index of the row that the page begins behind. */
  readonly after?: readonly string[] | undefined
}

interface PaymentPage {
  /** JSON array. */
  readonly rows: string
  readonly count: number
  /** Place of the last row; null: no row follows. */
  readonly next: string[] | null
}

/**
 * A page of the payments that are an agent's income, those of blocks that are not final too. An agent with millions of
 * them costs no more than one with a few: each address is searched hour by hour.
 */
export async function incomePayments(
  db: Queryable,
  { fid, limit, order, filter, after }: Payments,
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
  const isIncome = `$1 in (${paidAgents('s')})`
  const one = '(select $2::int + 1)'
  const received = receivedSettlements({ limit: one, order, overloads: 'true', hours, rows: [...rows, isIncome] })
  // Unnamed: planned with its values, as filters that are there and those that are not want other plans.
  const found = await db.query<PaymentPage>({
    text: `
with recent as (
  select s.* from (select distinct address from income_address where fid = $1) recipient cross join lateral (${received}) s
   order by ${settlementOrder(order)} limit ${one}
),
page as materialized (select * from recent s order by ${settlementOrder(order)} limit $2)
select coalesce((select json_agg(${paymentObject} order by ${settlementOrder(order)})
                   from page s
                   left join facilitator_sender f on f.address = s.facilitator
                   left join chain_state state on state.chain = s.chain), '[]')::text as rows,
       (select count(*)::int from page) as count,
       (select ${settlementKey} from page s
         where (select count(*) from recent) > $2
         order by ${settlementOrder(order === 'desc' ? 'asc' : 'desc')} limit 1) as next`,
    values,
  })
  return found.rows[0] ?? { rows: '[]', count: 0, next: null }
}

const paymentObject = `json_build_object(
    'tx_hash', ${hex('s.tx_hash')},
    'block_number', s.block_number,
    'log_index', s.log_index,
    'block_timestamp', ${isoTime('s.block_timestamp')},
    'chain', s.chain,
    'payer_address', ${hex('s.payer')},
    'recipient_address', ${hex('s.recipient')},
    'token_address', ${hex('s.token')},
    'amount_usdc', ${dollars('s.amount')},
    'kind', ${incomeKind(`not ${isListed('s.selector')}`)},
    'flag', ${incomeFlag('$1', 's')},
    'facilitator_address', ${hex('s.facilitator')},
    'facilitator_name', f.name,
    'x402_evidence', case when f.name is null then 'none' else 'facilitator' end,
    'final', coalesce(s.block_number <= state.finalized_block, false))`
