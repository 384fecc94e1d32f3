import type { ChainName } from '../../../chains.config.ts'
import type { Queryable } from '../../pool.ts'
import { profileFields, sourceTimes } from '../sql/profile-fields.ts'

export interface ClaimedAgents {
  /** Agents in `agents`. */
  readonly count: number
  /** Claimed agents there are. */
  readonly total: number
  /** JSON array of profiles, ordered by fid. */
  readonly agents: string
}

/** What a mirror of profiles does without. */
const leftOut = ['oli_tags', 'agent_edges', 'agent_identities']

/**
 * The claimed agents of the bulk document; of more than `limit`, those claimed first.
 *
 * Counters are those of the rows, refreshed every minute: counting thousands of agents' settlements anew would take
 * longer than the document may.
 */
export async function claimedAgents(
  db: Queryable,
  { limit, registries }: { limit: number; registries: Record<ChainName, string> },
): Promise<ClaimedAgents> {
  const { rows } = await db.query<ClaimedAgents>({
    name: 'claimed-agents',
    text,
    values: [JSON.stringify(registries), limit],
  })
  return rows[0] ?? { count: 0, total: 0, agents: '[]' }
}

const profile = profileFields
  .filter(([name]) => !leftOut.includes(name))
  .map(([name, expression]) => `'${name}', ${expression}`)
  .join(',\n')

const text = `
with listed as (
  select * from agent where claimed order by claimed_at, fid limit $2
)
select count(*) as count,
       (select count(*) from agent where claimed) as total,
       coalesce(json_agg(json_build_object(${profile}) order by a.fid), '[]')::text as agents
  from listed a
 cross join lateral (
   select a.settlements_30d as last_30d, a.settlements_all as ever, a.last_settlement_at as newest_at
 ) paid
 cross join lateral (${sourceTimes}) source`
