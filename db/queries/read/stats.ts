import { chainNames } from '../../../chains.config.ts'
import type { Queryable } from '../../pool.ts'
import { isoTime } from '../sql/json-text.ts'

/**
 * JSON of `GET /api/stats`. Settlements are those paid to a verified address of an agent, each counted once however
 * many agents verify its recipient. Of each address they are as the job counted them in its last round, a minute ago at
 * most while it runs; which agents there are, here as in every other figure, is as it is now.
 */
export async function directoryStats(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ body: string }>({ name: 'directory-stats', text: text() })
  return rows[0]?.body ?? ''
}

const supply = () => chainNames.map((name) => `'${name}', count(*) filter (where chain = '${name}')`).join(', ')
const text = () => `
select json_build_object(
  'total_agents', agents.total,
  'claimed_count', agents.claimed,
  'cross_chain_count', agents.cross_chain,
  'addresses_indexed', (
    select count(*)
      from (select "to" from registration_transfer where "to" is not null
             union
            select unnest(verified_addresses) from agent) address
  ),
  'erc8004_supply', (select json_build_object(${supply()}) from registration where not burned),
  'settlements', (
    select json_build_object(
             'last_24h', coalesce(sum(last_24h), 0),
             'last_7d', coalesce(sum(last_7d), 0),
             'last_30d', coalesce(sum(last_30d), 0),
             'all', coalesce(sum(ever), 0)
           )
      from (select * from recipient_counts offset 0) counted -- read whole: its key would be asked for every address
     where address in (select unnest(verified_addresses) from agent)
  ),
  'chains', (
    select json_agg(json_build_object(
             'chain', chain.name,
             'indexed_block', state.indexed_block,
             'finalized_block', state.finalized_block,
             'head_block', state.head_block,
             'lag_seconds', case when state.indexed_at is not null
                                 then greatest(0, extract(epoch from now() - state.indexed_at))::int end
           ) order by chain.position)
      from unnest(chain_names()) with ordinality as chain (name, position)
      left join chain_state state on state.chain = chain.name
  ),
  'generated_at', ${isoTime('now()')}
)::text as body
  from (
    select count(*) as total,
           count(*) filter (where claimed) as claimed,
           count(*) filter (where cardinality(chains) >= 2) as cross_chain
      from agent
  ) agents`
