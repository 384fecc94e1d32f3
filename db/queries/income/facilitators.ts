import type { Queryable } from '../../pool.ts'
import { chainPosition, dollars, hex, isoTime } from '../sql/json-text.ts'

/**
 * JSON list of `GET /api/facilitators` and its length: each with what its senders settled, of all four selectors, in final
 * blocks. Most settlements first, then by name. Reads the senders and their sums: no settlement.
 */
export async function facilitatorList(db: Queryable): Promise<{ rows: string; count: number }> {
  const { rows } = await db.query<{ rows: string; count: number }>({ name: 'facilitator-list', text })
  return rows[0] ?? { rows: '[]', count: 0 }
}

const text = `
with sent as materialized (
  select s.name, t.*
    from facilitator_sender s
    join facilitator_total t on t.facilitator = s.address and t.n > 0
),
facilitator as (
  select s.name,
         json_agg(json_build_object('address', ${hex('s.address')}, 'source', s.source) order by s.address) as senders
    from facilitator_sender s
   group by s.name
),
used as (
  select name, array_agg(distinct chain) as chains, sum(n) as n, sum(amount) as amount,
         sum(n) filter (where overload) as bytes_n, sum(amount) filter (where overload) as bytes_amount,
         min(first_at) as first_at, max(last_at) as last_at
    from sent
   group by name
)
select count(*)::int as count, coalesce(json_agg(json_build_object(
         'name', name,
         'senders', senders,
         'chains', array(select chain from unnest(chains) as chain order by ${chainPosition('chain')}),
         'settlements', coalesce(n, 0),
         'volume_usdc', ${dollars('coalesce(amount, 0)')},
         'by_kind', json_build_object(
           'eip3009_vrs', json_build_object('settlements', coalesce(n, 0) - coalesce(bytes_n, 0),
             'volume_usdc', ${dollars('(coalesce(amount, 0) - coalesce(bytes_amount, 0))')}),
           'eip3009_bytes', json_build_object('settlements', coalesce(bytes_n, 0),
             'volume_usdc', ${dollars('coalesce(bytes_amount, 0)')})
         ),
         'first_used_at', ${isoTime('first_at')},
         'last_used_at', ${isoTime('last_at')}
       ) order by coalesce(n, 0) desc, name), '[]')::text as rows
  from facilitator
  left join used using (name)`
