import { readingLimits } from '../../../config/limits.ts'
import type { Queryable } from '../../pool.ts'
import { lexeme } from '../directory/query-text.ts'
import { hex } from '../sql/json-text.ts'

/** What is looked for of an operator by terms of registrations; null: it acts for too many holders, or too much was said of it. */
export type Acting = ReadonlyMap<string, string | null>

interface Found {
  readonly operator: string
  readonly said: number
  readonly holders: { readonly chain: string; readonly owner: string }[]
}

/**
 * For each of these addresses a query over terms: it is approved for the registration, or an operator of who holds it. Who
 * named an operator for all it holds is in no terms, as one such word would change those of every registration it holds.
 */
export async function actingTerms(db: Queryable, operators: readonly string[]): Promise<Acting> {
  const looked = [...new Set(operators)].slice(0, readingLimits.operatorsLooked)
  if (looked.length === 0) return new Map()
  const { rows } = await db.query<Found>({
    name: 'acting-terms',
    text: `
select ${hex('wanted.operator')} as operator, events.said, coalesce(pair.holders, '[]') as holders
  from unnest($1::bytea[]) wanted (operator)
 cross join lateral (
   select count(*)::int as said
     from (select from registration_operator o where o.operator = wanted.operator limit ${readingLimits.operatorEvents} + 1) o) events
  left join lateral (
    select json_agg(json_build_object('chain', o.chain, 'owner', ${hex('o.owner')})) filter (where o.is_approved) as holders
      from (select o.chain, o.owner,
                   (array_agg(o.approved order by o.block_number desc, o.log_index desc))[1]
                     and exists (select from registration r where r.owner = o.owner and r.chain = o.chain and not r.burned) as is_approved
              from registration_operator o
             where o.operator = wanted.operator and events.said <= ${readingLimits.operatorEvents}
             group by o.chain, o.owner) o) pair on true`,
    values: [looked.map((one) => Buffer.from(one.slice(2), 'hex'))],
  })
  return new Map(
    rows.map(({ operator, said, holders }) => [
      operator,
      said > readingLimits.operatorEvents || holders.length > readingLimits.operatorHolders
        ? null
        : [
            lexeme(`operator:${operator}`),
            ...holders.map(({ chain, owner }) => `(${lexeme(`owner:${owner}`)} & ${lexeme(`chain:${chain}`)})`),
          ].join(' | '),
    ]),
  )
}

/** SQL: whether an operator may act for a registration `s` of `searched_registration`, whoever else it acts for. */
export const actsFor = (approved: string, operator: string) => `(s.terms @@ ${approved} or coalesce((
  select (select o.approved from registration_operator o
           where o.owner = r.owner and o.chain = r.chain and o.operator = ${operator}
           order by o.block_timestamp desc, o.block_number desc, o.log_index desc
           limit 1)
    from registration r
   where r.chain = s.chain and r.agent_id = s.agent_id), false))`
