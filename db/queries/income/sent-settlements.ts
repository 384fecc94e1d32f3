import type { Queryable } from '../../pool.ts'
import { unrolledBlocks } from '../sql/block-states.ts'
import { settlementObject, settlementOrder } from '../sql/received-settlements.ts'
import { isListed } from '../sql/settlement-filter.ts'

/** Newest settlements looked at: of a sender on a chain, where overloads do not count, and of all on a chain not rolled up. */
const mostExamined = 1_000

/**
 * JSON array of the newest settlements that a facilitator sent, from all of its addresses.
 *
 * Read of as many pairs of sender and chain as there are rows, those that sent last: no row among the newest is of another
 * pair.
 */
export async function sentSettlements(
  db: Queryable,
  asked: { readonly name: string; readonly limit: number; readonly settlementOverloads: 'spec' | 'all' },
): Promise<string> {
  const { rows } = await db.query<{ rows: string }>({
    name: 'sent-settlements',
    text,
    values: [asked.name, asked.limit, asked.settlementOverloads === 'all'],
  })
  return rows[0]?.rows ?? '[]'
}

const text = `
with ${unrolledBlocks},
sender as materialized (select address from facilitator_sender where name = $1),
pair as materialized (
  select facilitator, chain
    from (select t.facilitator, t.chain, t.last_at
            from sender
            join facilitator_total t on t.facilitator = sender.address and t.n > 0 and ($3::boolean or not t.overload)
           union all
          select s.facilitator, u.chain, s.block_timestamp
            from unrolled_blocks u
           cross join lateral (
             select s.facilitator, s.block_timestamp
               from settlement s
              where s.chain = u.chain and s.block_number between u.from_block and u.to_block
              order by s.block_number desc
              limit ${mostExamined}
           ) s
           where s.facilitator in (select address from sender)) one
   group by facilitator, chain
   order by max(last_at) desc, chain, facilitator
   limit $2::int
),
sent as (
  select s.*, s.block_number <= state.finalized_block as final
    from pair
   cross join lateral (
     select *
       from (select s.*
               from settlement s
              where s.chain = pair.chain and s.facilitator = pair.facilitator
              order by s.block_number desc, s.log_index desc
              limit ${mostExamined}) s
      where $3 or ${isListed('s.selector')}
      order by s.block_number desc, s.log_index desc
      limit $2
   ) s
    left join chain_state state on state.chain = s.chain
   order by ${settlementOrder('desc')}
   limit $2
)
select coalesce(json_agg(${settlementObject} order by ${settlementOrder('desc')}), '[]')::text as rows from sent s`
