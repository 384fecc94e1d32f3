import { listedSelectors } from '../../../abi/selectors.ts'
import type { ChainName } from '../../../config/chains.ts'
import { maxBlock } from '../../block-range.ts'

/** Which settlements; null: no filter. Addresses and selectors are lowercase hex. */
export interface SettlementFilter {
  readonly chain: readonly ChainName[] | null
  readonly payer: string | null
  readonly facilitator: string | null
  readonly selector: string | null
  /** Millionths of a dollar, digits; both inclusive. */
  readonly min_amount: string | null
  readonly max_amount: string | null
  /** ISO times; `since` inclusive, `until` exclusive. */
  readonly since: string | null
  readonly until: string | null
  readonly final: boolean | null
}

export const bytesOf = (hex: string) => Buffer.from(hex.slice(2), 'hex')

/** The place of a settlement `s` in its order: microseconds since 1970, chain, block and log index. */
export const settlementKey = `array[((extract(epoch from s.block_timestamp) * 1000000)::bigint)::text, s.chain,
  s.block_number::text, s.log_index::text]`

interface Place {
  readonly order: 'asc' | 'desc'
  /** Key of the row that the page begins behind. */
  readonly after: readonly string[] | undefined
  /** Adds a value to those of the statement. */
  readonly parameter: (value: unknown, type: string) => string
}

/**
 * Conditions on settlements `s`, and on the hours `h` that they are in. `isSelective`: of the settlements of these hours
 * some or all may not match.
 */
export function settlementConditions(filter: SettlementFilter, { order, after, parameter }: Place) {
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
  if (payer !== null) rows.push(`s.payer = ${parameter(bytesOf(payer), 'bytea')}`)
  if (facilitator !== null) rows.push(`s.facilitator = ${parameter(bytesOf(facilitator), 'bytea')}`)
  if (selector !== null) rows.push(`s.selector = ${parameter(bytesOf(selector), 'bytea')}`)
  if (min_amount !== null) rows.push(`s.amount >= ${parameter(min_amount, 'numeric')}`)
  if (max_amount !== null) {
    const most = parameter(max_amount, 'numeric')
    rows.push(`s.amount <= ${most}`)
    // A token of finer units than millionths: what is cut off in the row may be beyond.
    rows.push(`(not tokens_are_scaled() or s.amount < ${most}
                or (exact_of(s.chain, s.block_number, s.log_index, s.amount)).dollars * 1000000 <= ${most})`)
  }
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
      `s.block_number ${operator}= case when s.chain = ${name} then ${block} else ${order === 'desc' ? maxBlock : 0} end`,
    )
    hours.push(`h.hour ${operator}= date_trunc('hour', ${time}, 'UTC')`)
  }
  const isSelective = [payer, facilitator, selector, min_amount, max_amount, final].some((value) => value !== null)
  return { rows, hours, isSelective }
}

/** The selectors as bytea literals write them: hex without 0x. */
const listed = Object.values(listedSelectors).map((selector) => selector.slice(2))

/** Whether a selector is one of the two a settlement is defined by; an SQL expression of one. */
export const isListed = (selector: string) => `${selector} in (${listed.map((hex) => `'\\x${hex}'`).join(', ')})`
