import type { Queryable } from '../../pool.ts'
import { isOfRows, isTooSlow, type LeftOut, readInParts } from '../sql/broken-rows.ts'
import type { Installation } from '../sql/installation.ts'
import { profileFields, sourceTimes } from '../sql/profile-fields.ts'

interface BulkOptions {
  readonly limit: number
  readonly installation: Installation
  readonly leftOut: LeftOut
}

interface ClaimedAgents {
  /** Number of agents in `agents`. */
  readonly count: number
  /** Number of all claimed agents. */
  readonly total: number
  /** JSON array of profiles, ordered by fid. */
  readonly agents: string
}

/** Profile fields that the bulk document leaves out. */
const withheld = ['oli_tags', 'agent_edges', 'agent_identities']

/**
 * The claimed agents of the bulk document; of more than `limit`, those claimed first.
 *
 * Counters are those of the rows, refreshed every minute: counting thousands of agents' settlements again would take
 * longer than the document may.
 */
export async function claimedAgents(db: Queryable, options: BulkOptions): Promise<ClaimedAgents> {
  const { limit, installation } = options
  try {
    const { rows } = await db.query<ClaimedAgents>({
      name: 'claimed-agents',
      text: textOf('select * from agent where claimed order by claimed_at, fid limit $2'),
      values: [JSON.stringify(installation), limit],
    })
    return rows[0] ?? { count: 0, total: 0, agents: '[]' }
  } catch (cause) {
    if (!isOfRows(cause) && !isTooSlow(cause)) throw cause
    return withoutBroken(db, options)
  }
}

/** Reads the bulk document in parts, so that an agent that cannot be shown costs only its own part a second reading. */
async function withoutBroken(db: Queryable, { limit, installation, leftOut }: BulkOptions): Promise<ClaimedAgents> {
  const { rows: all } = await db.query<{ fid: number; total: number }>({
    name: 'claimed-fids',
    text: `select fid, (select count(*) from agent where claimed) as total
             from (select fid from agent where claimed order by claimed_at, fid limit $1) listed order by fid`,
    values: [limit],
  })
  const parts = await readInParts({
    fids: all.map(({ fid }) => fid),
    read: async (fids) => {
      const { rows } = await db.query<ClaimedAgents>({
        name: 'claimed-agents-of',
        text: textOf('select * from agent where fid = any ($2::bigint[])'),
        values: [JSON.stringify(installation), fids],
      })
      return rows[0]
    },
    leftOut,
  })
  const full = parts.filter((part) => part !== undefined && part.count > 0) as ClaimedAgents[]
  return {
    count: full.reduce((sum, { count }) => sum + count, 0),
    total: all[0]?.total ?? 0,
    agents: `[${full.map(({ agents }) => agents.slice(1, -1)).join(', ')}]`,
  }
}

const profile = profileFields
  .filter(([name]) => !withheld.includes(name))
  .map(([name, expression]) => `'${name}', ${expression}`)
  .join(',\n')

const textOf = (listed: string) => `
with listed as (
  ${listed}
)
select count(*) as count,
       (select count(*) from agent where claimed) as total,
       coalesce(json_agg(json_build_object(${profile}) order by a.fid), '[]')::text as agents
  from listed a
 cross join lateral (
   select a.settlements_30d as last_30d, a.settlements_all as ever, a.last_settlement_at as newest_at
 ) paid
 cross join lateral (${sourceTimes}) source`
