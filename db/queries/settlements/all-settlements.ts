import { type ChainName, settlementChains } from '../../../config/chains.ts'
import { maxBlock } from '../../block-range.ts'
import type { Queryable } from '../../pool.ts'
import { withKeptPlan } from '../server/transaction-settings.ts'
import { availableSince } from '../sql/block-states.ts'
import { examinedHours, receivedSettlements, settlementObject, settlementOrder } from '../sql/received-settlements.ts'
import {
  bytesOf,
  isListed,
  type SettlementFilter,
  settlementConditions,
  settlementKey,
} from '../sql/settlement-filter.ts'
import { settlementStarts } from './settlement-starts.ts'

/** Filters of the list of all settlements; null: the filter is not set. */
interface AllSettlementsFilter extends SettlementFilter {
  /** FID, as digits: only settlements to addresses that this agent verifies now. */
  readonly fid: string | null
  readonly recipient: string | null
  readonly tx_hash: string | null
}

interface AllSettlementsPage {
  readonly limit: number
  readonly settlementOverloads: 'spec' | 'all'
  readonly filter: AllSettlementsFilter
  readonly order: 'asc' | 'desc'
  /** Cursor: time (microseconds since 1970), chain, block and log index of the last row before the page. */
  readonly after: readonly string[] | undefined
  /** Settlements of a recipient that one page may examine; set by tests only. */
  readonly mostExamined?: number
}

/** Settlements of a chain that one page may examine; a page that is not full by then ends early. */
const mostExamined = 10_000

interface Rows {
  readonly rows: string
  readonly count: number
  readonly next: string[] | null
  /** Time from which on all rows are stored; null: none was archived. */
  readonly availableSince: string | null
}

const none: Rows = { rows: '[]', count: 0, next: null, availableSince: null }

/**
 * A page of the settlements of everybody that a filter matches. Of a known recipient they are looked up by the hours it
 * was paid in; otherwise by transaction, by payer, by facilitator, or along the blocks. A page that would need more
 * rows examined than `mostExamined` is short, and `next` leads on all the same.
 */
export async function allSettlements(db: Queryable, page: AllSettlementsPage): Promise<Rows> {
  const { fid, recipient, tx_hash } = page.filter
  const isOfRecipient = tx_hash === null && (fid !== null || recipient !== null)
  if (chainsOf(page.filter).length === 0) return none
  // Along the blocks unnamed: planned with their values, from which each chain's partitions follow.
  const statement = isOfRecipient ? withKeptPlan(ofRecipient(page)) : await alongBlocks(db, page)
  const { rows } = await db.query<Rows>(statement)
  return rows[0] ?? none
}

function statement({ limit, settlementOverloads }: AllSettlementsPage) {
  const values: unknown[] = [limit, settlementOverloads === 'all']
  const parameter = (value: unknown, type: string) => `$${values.push(value)}::${type}`
  return { values, parameter }
}

const addressesOf = (fid: string) => `select unnest(verified_addresses) from agent where fid = ${fid}`

/** Conditions on the recipient and the place of a settlement, in addition to those of every list. */
function ownConditions(
  { fid, recipient, tx_hash }: AllSettlementsFilter,
  parameter: (v: unknown, t: string) => string,
) {
  return [
    ...(fid === null ? [] : [`s.recipient in (${addressesOf(parameter(fid, 'bigint'))})`]),
    ...(recipient === null ? [] : [`s.recipient = ${parameter(bytesOf(recipient), 'bytea')}`]),
    ...(tx_hash === null ? [] : [`s.tx_hash = ${parameter(bytesOf(tx_hash), 'bytea')}`]),
  ]
}

function ofRecipient(page: AllSettlementsPage) {
  const { filter, order, after } = page
  const { values, parameter } = statement(page)
  const { rows, hours, isSelective } = settlementConditions(filter, { order, after, parameter })
  const overloads = '$2::boolean'
  const isOfOne = filter.fid !== null && filter.recipient !== null
  const examined =
    isSelective || isOfOne ? examinedHours({ order, overloads, hours, most: page.mostExamined }) : undefined
  const recipients =
    filter.fid === null
      ? `select ${parameter(bytesOf(filter.recipient ?? '0x'), 'bytea')} as address`
      : `select unnest(verified_addresses) as address from agent where fid = ${parameter(filter.fid, 'bigint')}`
  const received = receivedSettlements({
    limit: '(select $1::int + 1)',
    order,
    overloads,
    hours: [...hours, ...(examined?.hours ?? [])],
    rows: [...rows, ...ownConditions(filter, parameter), ...(examined?.rows ?? [])],
  })
  const found = `select s.* from recipient cross join lateral (${received}) s`
  const before = `recipient as (${recipients}),${examined ? `${examined.edge},` : ''}`
  const since = availableSince(parameter(filter.chain, 'text[]'))
  return { text: pageOf({ before, found, since, end: examined?.next }, order), values }
}

async function alongBlocks(db: Queryable, page: AllSettlementsPage) {
  const { filter, order, after } = page
  const { values, parameter } = statement(page)
  const { payer, facilitator, tx_hash } = filter
  const { rows } = settlementConditions(filter, { order, after, parameter })
  const own = ownConditions(filter, parameter)
  const driver =
    tx_hash !== null
      ? own.slice(-1)
      : payer !== null
        ? [`s.payer = ${parameter(bytesOf(payer), 'bytea')}`]
        : facilitator !== null
          ? [`s.facilitator = ${parameter(bytesOf(facilitator), 'bytea')}`]
          : []
  const filters = [...rows, ...own, `($2::boolean or ${isListed('s.selector')})`].join(' and ')
  const bounds =
    tx_hash === null ? await blockBounds(db, page) : chainsOf(filter).map((chain) => ({ chain, ...anyBlock }))
  const blocks = `s.block_number ${order}, s.log_index ${order}`
  const parts = bounds.map(({ chain, low, high }) => {
    // A branch a chain: its partitions, and of them those of the blocks, are known when the statement is planned.
    const name = parameter(chain, 'text')
    const range = `s.block_number >= ${parameter(low, 'bigint')}::int and s.block_number <= ${parameter(high, 'bigint')}::int`
    const examined = `select s.* from settlement s where ${[`s.chain = ${name}`, range, ...driver].join(' and ')} order by ${blocks}`
    return {
      found: `(select s.* from (${examined} limit ${mostExamined}) s where ${filters} order by ${blocks} limit $1::int + 1)`,
      edge: `(select s.* from (${examined} offset ${mostExamined - 1} limit 1) s
               where (select count(*) from found where chain = ${name}) <= $1::int)`,
    }
  })
  const found = parts.map((part) => part.found).join(' union all ')
  const edges = parts.map((part) => part.edge).join(' union all ')
  const edge = `select * from (${edges}) s order by ${settlementOrder(order)} limit 1`
  const since = availableSince(parameter(filter.chain, 'text[]'))
  return { text: pageOf({ found, since, edge }, order), values }
}

const columns = (table: string) =>
  `(${['block_timestamp', 'chain', 'block_number', 'log_index'].map((name) => `${table}.${name}`).join(', ')})`

/**
 * The first $1 rows of `found` down to where the search ended (`edge`, when it ended early), and where to go on: there, or
 * at `end`. `before`: common table expressions that `found` names.
 */
function pageOf(
  parts: { before?: string; found: string; since: string; edge?: string; end?: string | undefined },
  order: 'asc' | 'desc',
): string {
  const {
    before = '',
    found,
    since,
    edge,
    end = edge === undefined ? 'null' : `(select ${settlementKey} from edge s)`,
  } = parts
  const beyond = `${columns('s')} ${order === 'desc' ? '<' : '>'} ${columns('e')}`
  return `
with ${before}found as (${found}),${edge === undefined ? '' : `edge as (${edge}),`}
shown as (
  select s.* from found s ${edge === undefined ? '' : `where not exists (select from edge e where ${beyond})`}
   order by ${settlementOrder(order)} limit $1::int + 1
),
page as (
  select s.*, s.block_number <= state.finalized_block as final
    from shown s
    left join chain_state state on state.chain = s.chain
   order by ${settlementOrder(order)}
   limit $1::int
)
select coalesce((select json_agg(${settlementObject} order by ${settlementOrder(order)}) from page s), '[]')::text as rows,
       (select count(*) from page) as count,
       case when (select count(*) from shown) > $1::int
            then (select ${settlementKey} from page s order by ${settlementOrder(order === 'desc' ? 'asc' : 'desc')} limit 1)
            else ${end} end as next,
       ${since} as "availableSince"`
}

const anyBlock = { low: 0, high: maxBlock }

const chainsOf = ({ chain }: SettlementFilter): ChainName[] =>
  settlementChains().filter((name) => chain === null || chain.includes(name))

/** Bounds on each chain's blocks that follow from the filter's times and the page's cursor. */
async function blockBounds(db: Queryable, { filter, order, after }: AllSettlementsPage) {
  const names = chainsOf(filter)
  const place = after && new Date(Math.floor(Number(after[0]) / 1_000)).toISOString()
  // The place's own millisecond is looked at on every chain: rows in it are told apart by the filter.
  const beyond = after && new Date(Math.floor(Number(after[0]) / 1_000) + 1).toISOString()
  const since = latest([filter.since, order === 'asc' ? place : undefined])
  const until = earliest([filter.until, order === 'desc' ? beyond : undefined])
  const starts = async (time: string | undefined) =>
    time === undefined ? [] : settlementStarts(db, { chains: names, since: time })
  const [from, to] = await Promise.all([starts(since), starts(until)])
  const blockOf = (found: typeof from, chain: string) => found.find((one) => one.chain === chain)?.block
  return names.map((chain) => ({
    chain,
    low: blockOf(from, chain) ?? anyBlock.low,
    high: (blockOf(to, chain) ?? anyBlock.high + 1) - 1,
  }))
}

type Times = readonly (string | null | undefined)[]
const sorted = (times: Times) => times.filter((time) => typeof time === 'string').sort() as string[]
const latest = (times: Times) => sorted(times).at(-1)
const earliest = (times: Times) => sorted(times)[0]
