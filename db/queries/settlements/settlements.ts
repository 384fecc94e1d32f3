import type { Queryable } from '../../pool.ts'
import { withKeptPlan } from '../server/transaction-settings.ts'
import { availableSince } from '../sql/block-states.ts'
import { examinedHours, receivedSettlements, settlementObject, settlementOrder } from '../sql/received-settlements.ts'
import { type SettlementFilter, settlementConditions, settlementKey } from '../sql/settlement-filter.ts'

interface SettlementPage {
  readonly fid: number
  readonly limit: number
  readonly settlementOverloads: 'spec' | 'all'
  readonly filter: SettlementFilter
  readonly order: 'asc' | 'desc'
  /** Cursor: time (microseconds since 1970), chain, block and log index of the last row before the page. */
  readonly after: readonly string[] | undefined
  /** Settlements of an address that one page may examine; set by tests only. */
  readonly mostExamined?: number
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
const merged = (received: string, order: 'asc' | 'desc', limit: string) => `
recent as (
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
   where a.fid = $1
)`

const bodyOf = (further: string) => `json_build_object(
  'fid', a.fid,
  'count', (select count(*) from recent),
  'settlements', (
    select coalesce(json_agg(${settlementObject} order by ${settlementOrder('desc')}), '[]')
    from recent s
  )${further}
)`

const newest = '(select $2::int)'
const text = `with ${merged(receivedSettlements({ limit: newest, order: 'desc', overloads: '$3::boolean' }), 'desc', '$2')}
select case when gone.since is null then ${bodyOf('')} else ${bodyOf(`, 'available_since', gone.since`)} end::text as body
  from agent a
 cross join (select ${availableSince('null::text[]')} as since) gone
 where a.fid = $1`

interface Page {
  readonly rows: string
  readonly count: number
  readonly next: string[] | null
  readonly isCut: boolean
  /** Time from which on all rows are stored; null: none was archived. */
  readonly availableSince: string | null
}

/**
 * A page of the settlements that a filter matches, in one order. Undefined: an unknown agent. A page that would need too
 * many settlements examined is short, `isCut`, and `next` leads on all the same.
 */
export async function settlementPage(
  db: Queryable,
  { fid, limit, settlementOverloads, filter, order, after, mostExamined: most }: SettlementPage,
): Promise<Page | undefined> {
  const values: unknown[] = [fid, limit, settlementOverloads === 'all']
  const parameter = (value: unknown, type: string) => `$${values.push(value)}::${type}`
  const { rows, hours, isSelective } = settlementConditions(filter, { order, after, parameter })
  const one = '(select $2::int + 1)'
  const overloads = '$3::boolean'
  const examined = isSelective ? examinedHours({ order, overloads, hours, most }) : undefined
  const received = receivedSettlements({
    limit: one,
    order,
    overloads,
    hours: [...hours, ...(examined?.hours ?? [])],
    rows: [...rows, ...(examined?.rows ?? [])],
  })
  const edge = examined
    ? `recipient as (select unnest(verified_addresses) as address from agent where fid = $1),${examined.edge},`
    : ''
  const statement = {
    text: `with ${edge}${merged(received, order, '$2::int + 1')},
page as (select * from recent s order by ${settlementOrder(order)} limit $2),
shown as (select (select count(*) from recent) > $2 as is_full)
select coalesce((select json_agg(${settlementObject} order by ${settlementOrder(order)}) from page s), '[]')::text as rows,
       (select count(*) from page) as count,
       case when is_full then (select ${settlementKey} from page s
                                order by ${settlementOrder(order === 'desc' ? 'asc' : 'desc')} limit 1)
            else ${examined?.next ?? 'null'} end as next,
       not is_full and ${examined?.next ?? 'null'} is not null as "isCut",
       ${availableSince(parameter(filter.chain, 'text[]'))} as "availableSince"
  from agent
 cross join shown
 where fid = $1`,
    values,
  }
  const found = await db.query<Page>(withKeptPlan(statement))
  return found.rows[0]
}
