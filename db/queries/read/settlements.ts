import type { Queryable } from '../../pool.ts'
import { dollars, hex, isoTime, settlementChains } from '../sql/json-text.ts'
import { shownSelectors } from '../sql/selectors.ts'

/**
 * JSON of `GET /api/agent/:fid/settlements`: newest first. An empty list means no settlement yet; undefined an
 * unknown agent.
 *
 * Takes the newest rows of each address on each chain and merges them, so that an agent with millions of settlements
 * costs no more than one with a few. The planner is not told how many: it takes every address for an average one, and
 * to get a hundred rows of one that has sixty it would read and sort them all.
 */
export async function agentSettlements(
  db: Queryable,
  { fid, limit, settlementOverloads }: { fid: number; limit: number; settlementOverloads: 'spec' | 'all' },
): Promise<string | undefined> {
  const { rows } = await db.query<{ body: string }>({
    name: 'agent-settlements',
    text,
    values: [fid, limit, shownSelectors(settlementOverloads)],
  })
  return rows[0]?.body
}

const text = `
with recent as (
  select newest.*
    from agent a
   cross join lateral (
     select s.*, s.block_number <= state.finalized_block as final
       from unnest(a.verified_addresses) as verified (address)
      cross join unnest(${settlementChains}) as chain (name)
       left join chain_state state on state.chain = chain.name
      cross join lateral (
        select *
          from settlement s
         where s.recipient = verified.address and s.chain = chain.name and s.selector = any ($3::bytea[])
         order by s.block_number desc, s.log_index desc
         limit (select $2::int)
      ) s
      order by s.block_timestamp desc, s.chain desc, s.block_number desc, s.log_index desc
      limit $2
   ) newest
   where a.fid = $1
)
select json_build_object(
  'fid', a.fid,
  'count', (select count(*) from recent),
  'settlements', (
    select coalesce(json_agg(json_build_object(
      'tx_hash', ${hex('s.tx_hash')},
      'block_number', s.block_number,
      'block_timestamp', ${isoTime('s.block_timestamp')},
      'payer_address', ${hex('s.payer')},
      'recipient_address', ${hex('s.recipient')},
      'amount_usdc', ${dollars('s.amount')},
      'chain', s.chain,
      'selector', ${hex('s.selector')},
      'log_index', s.log_index,
      'payment_nonce', ${hex('s.payment_nonce')},
      'facilitator_address', ${hex('s.facilitator')},
      'final', coalesce(s.final, false)
    ) order by s.block_timestamp desc, s.chain desc, s.block_number desc, s.log_index desc), '[]')
    from recent s
  )
)::text as body
  from agent a
 where a.fid = $1`
