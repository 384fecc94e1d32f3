import { chainNames } from '../../../chains.config.ts'
import type { Queryable } from '../../pool.ts'
import { countedParts, directorySums, dirtyParts, keptParts } from '../rollup/directory-sums.ts'
import { hostOf } from '../sql/disputed-messages.ts'
import { isoTime } from '../sql/json-text.ts'

/**
 * JSON of `GET /api/stats`. Settlements are those paid to a verified address of an agent, each counted once however
 * many agents verify its recipient. Of each address they are as the job counted them in its last round, a minute ago at
 * most while it runs; which agents there are, here as in every other figure, is as it is now. What has not moved since
 * that round is as it was summed up then; all else is counted here.
 */
export async function directoryStats(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ body: string }>({ name: 'directory-stats', text: text() })
  return rows[0]?.body ?? ''
}

const { agents, addresses, supply } = directorySums
const bothParts = (sums: typeof agents) => `(${keptParts(sums)} union all ${countedParts(sums)})`
const sum = (column: string) => `coalesce(sum(${column}), 0)`
const supplies = () => chainNames.map((name) => `'${name}', ${sum(`n) filter (where chain = '${name}'`)}`).join(', ')
const text = () => `
with ${dirtyParts}
select json_build_object(
  'total_agents', agents.total,
  'claimed_count', agents.claimed,
  'cross_chain_count', agents.cross_chain,
  'addresses_indexed', addresses.held,
  'erc8004_supply', (select json_build_object(${supplies()}) from ${bothParts(supply)} supply),
  'settlements', json_build_object(
    'last_24h', addresses.last_24h,
    'last_7d', addresses.last_7d,
    'last_30d', addresses.last_30d,
    'all', addresses.ever
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
  'hub', (
    select json_build_object('host', ${hostOf('h.url')}, 'since', ${isoTime('h.followed_since')},
                             'believed', h.doubt is null)
      from hub_standing h where h.followed_since is not null order by h.followed_since desc, h.url limit 1
  ),
  'generated_at', ${isoTime('now()')}
)::text as body
  from (select ${agents.columns.map((name) => `${sum(name)} as ${name}`).join(', ')} from ${bothParts(agents)} part) agents,
       (select ${addresses.columns.map((name) => `${sum(name)} as ${name}`).join(', ')} from ${bothParts(addresses)} part) addresses`
