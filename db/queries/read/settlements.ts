import type { ChainName } from '../../../chains.config.ts'
import type { Queryable } from '../../pool.ts'
import { receivedSettlements, settlementObject, settlementOrder } from '../sql/received-settlements.ts'

/** Which settlements; null: no filter. Addresses and selectors are lowercase hex. */
export interface SettlementFilter {
  readonly chain: readonly ChainName[] | null
  readonly payer: string | null
  readonly facilitator: string | null
  readonly selector: string | null
  /** Base units, digits; both inclusive. */
  readonly min_amount: string | null
  readonly max_amount: string | null
  /** ISO times; `since` inclusive, `until` exclusive. */
  readonly since: string | null
  readonly until: string | null
  readonly final: boolean | null
}

export interface SettlementPage {
  readonly fid: number
  readonly limit: number
  readonly settlementOverloads: 'spec' | 'all'
  readonly filter: SettlementFilter
  readonly order: 'asc' | 'desc'
  /** Microseconds since 1970, chain, block and log index of the row that the page begins behind. */
  readonly after: readonly string[] | undefined
}

/**
 * JSON of `GET /api/agent/:fid/settlements`: newest first. An empty list means no settlement yet; undefined an
 * unknown agent. An agent with millions of settlements costs no more than one with a few.
 */
export async function agentSettlements(
  db: Queryable,
  { fid, limit, settlementOverloads }: { fid: number; limit: number; settlementOverloads: 'spec' | 'all' },
): Promise<string | undefined> {
  const { rows } = await db.query<{ body: string }>({
    name: 'agent-settlements',
    text,
    values: [fid, limit, settlementOverloads === 'all'],
  })
  return rows[0]?.body
}

/** The settlements of each verified address of the agent $1, merged. */
const merged = (received: string, order: 'asc' | 'desc', limit: string, shown = 'true') => `
with recent as (
  select s.*, s.block_number <= state.finalized_block as final
    from agent a
   cross join lateral (
     select s.*
       from unnest(a.verified_addresses) as recipient (address)
      cross join lateral (${received}) s
      order by ${settlementOrder(order)}
      limit ${limit}
   ) s
    left join chain_state state on state.chain = s.chain
   where a.fid = $1 and ${shown}
)`

const newest = '(select $2::int)'
const text = `${merged(receivedSettlements({ limit: newest, order: 'desc', overloads: '$3::boolean' }), 'desc', '$2')}
select json_build_object(
  'fid', a.fid,
  'count', (select count(*) from recent),
  'settlements', (
    select coalesce(json_agg(${settlementObject} order by ${settlementOrder('desc')}), '[]')
    from recent s
  )
)::text as body
  from agent a
 where a.fid = $1`

/** A page of the settlements that a filter matches, in one order. Undefined: an unknown agent. */
export async function settlementPage(
  db: Queryable,
  { fid, limit, settlementOverloads, filter, order, after }: SettlementPage,
): Promise<{ rows: string; count: number; next: string[] | null } | undefined> {
  const values: unknown[] = [fid, limit, settlementOverloads === 'all']
  const parameter = (value: unknown, type: string) => `$${values.push(value)}::${type}`
  const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')
  const { chain, payer, facilitator, selector, min_amount, max_amount, since, until, final } = filter
  const hours: string[] = []
  const rows: string[] = []
  const bound = (operator: string, value: string | null) => {
    if (value === null) return
    const time = parameter(value, 'timestamptz')
    rows.push(`s.block_timestamp ${operator} ${time}`)
    hours.push(`h.hour ${operator === '<' ? '<=' : operator} date_trunc('hour', ${time}, 'UTC')`)
  }
  bound('>=', since)
  bound('<', until)
  if (chain) {
    const names = parameter(chain, 'text[]')
    hours.push(`h.chain = any (${names})`)
    rows.push(`s.chain = any (${names})`)
  }
  if (payer !== null) rows.push(`s.payer = ${parameter(bytes(payer), 'bytea')}`)
  if (facilitator !== null) rows.push(`s.facilitator = ${parameter(bytes(facilitator), 'bytea')}`)
  if (selector !== null) rows.push(`s.selector = ${parameter(bytes(selector), 'bytea')}`)
  if (min_amount !== null) rows.push(`s.amount >= ${parameter(min_amount, 'numeric')}`)
  if (max_amount !== null) rows.push(`s.amount <= ${parameter(max_amount, 'numeric')}`)
  if (final !== null) {
    rows.push(
      `${final ? '' : 'not '}coalesce(s.block_number <= (select f.finalized_block from chain_state f where f.chain = s.chain), false)`,
    )
  }
  if (after) {
    const operator = order === 'desc' ? '<' : '>'
    const time = `(timestamptz 'epoch' + ${parameter(after[0], 'bigint')} * interval '1 microsecond')`
    const name = parameter(after[1], 'text')
    const block = parameter(after[2], 'bigint')
    const log = parameter(after[3], 'bigint')
    rows.push(
      `(s.block_timestamp, s.chain, s.block_number, s.log_index) ${operator} (${time}, ${name}, ${block}, ${log})`,
    )
    // On the chain of the last row the index leads there; blocks before it, or behind it, need not be read.
    rows.push(
      `s.block_number ${operator}= case when s.chain = ${name} then ${block} else ${order === 'desc' ? 2_147_483_647 : 0} end`,
    )
    hours.push(`h.hour ${operator}= date_trunc('hour', ${time}, 'UTC')`)
  }
  const one = '(select $2::int + 1)'
  const received = receivedSettlements({ limit: one, order, overloads: '$3::boolean', hours, rows })
  // Unnamed: planned with its values, as filters that are there and those that are not want other plans.
  const found = await db.query<{ rows: string; count: number; next: string[] | null }>({
    text: `${merged(received, order, '$2::int + 1')},
page as (select * from recent s order by ${settlementOrder(order)} limit $2)
select coalesce((select json_agg(${settlementObject} order by ${settlementOrder(order)}) from page s), '[]')::text as rows,
       (select count(*) from page) as count,
       (select array[((extract(epoch from s.block_timestamp) * 1000000)::bigint)::text, s.chain, s.block_number::text,
                     s.log_index::text]
          from page s
         where (select count(*) from recent) > $2
         order by ${settlementOrder(order === 'desc' ? 'asc' : 'desc')} limit 1) as next
  from agent
 where fid = $1`,
    values,
  })
  return found.rows[0]
}
