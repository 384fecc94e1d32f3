import type { ChainName } from '../../../chains.config.ts'
import type { Queryable } from '../../pool.ts'
import { profileFields, sourceTimes } from '../sql/profile-fields.ts'

export interface BulkOptions {
  readonly limit: number
  /** Address of each chain's identity registry. */
  readonly registries: Record<ChainName, string>
  /** Told of each agent that cannot be shown: the document goes without it. */
  readonly leftOut: (fid: number, cause: unknown) => void
}

export interface ClaimedAgents {
  /** Agents in `agents`. */
  readonly count: number
  /** Claimed agents there are. */
  readonly total: number
  /** JSON array of profiles, ordered by fid. */
  readonly agents: string
}

/** What a mirror of profiles does without. */
const withheld = ['oli_tags', 'agent_edges', 'agent_identities']

/**
 * The claimed agents of the bulk document; of more than `limit`, those claimed first.
 *
 * Counters are those of the rows, refreshed every minute: counting thousands of agents' settlements anew would take
 * longer than the document may.
 */
export async function claimedAgents(db: Queryable, options: BulkOptions): Promise<ClaimedAgents> {
  const { limit, registries } = options
  try {
    const { rows } = await db.query<ClaimedAgents>({
      name: 'claimed-agents',
      text: textOf('select * from agent where claimed order by claimed_at, fid limit $2'),
      values: [JSON.stringify(registries), limit],
    })
    return rows[0] ?? { count: 0, total: 0, agents: '[]' }
  } catch (cause) {
    if (!isOfRows(cause)) throw cause
    return withoutBroken(db, options)
  }
}

/** Statements that looking for agents that cannot be shown may take: of some dozens, the next request goes on. */
const mostStatements = 400

/** The same in parts, each halved until what is left out is the one agent that cannot be shown. */
async function withoutBroken(db: Queryable, { limit, registries, leftOut }: BulkOptions): Promise<ClaimedAgents> {
  const { rows: all } = await db.query<{ fid: number; total: number }>({
    name: 'claimed-fids',
    text: `select fid, (select count(*) from agent where claimed) as total
             from (select fid from agent where claimed order by claimed_at, fid limit $1) listed order by fid`,
    values: [limit],
  })
  let statements = 0
  const read = async (fids: readonly number[]): Promise<string[]> => {
    statements++
    try {
      const { rows } = await db.query<ClaimedAgents>({
        name: 'claimed-agents-of',
        text: textOf('select * from agent where fid = any ($2::bigint[])'),
        values: [JSON.stringify(registries), fids],
      })
      return rows[0]?.count ? [rows[0].agents.slice(1, -1)] : []
    } catch (cause) {
      if (!isOfRows(cause) || statements > mostStatements) throw cause
      const [fid] = fids
      if (fids.length <= 1) {
        if (fid !== undefined) leftOut(fid, cause)
        shown -= fids.length
        return []
      }
      const half = fids.length >> 1
      return [...(await read(fids.slice(0, half))), ...(await read(fids.slice(half)))]
    }
  }
  let shown = all.length
  const parts = await read(all.map(({ fid }) => fid))
  return { count: shown, total: all[0]?.total ?? 0, agents: `[${parts.join(', ')}]` }
}

/** Whether an error is about what was read, so that other rows may do, and not about the database. */
function isOfRows(cause: unknown): boolean {
  // Data, limits of the program, raised by a function, internal; 57014: it took too long.
  return /^(22|54|P0|XX)...$|^57014$/.test(String((cause as { code?: unknown } | null)?.code))
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
