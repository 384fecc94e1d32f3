import type { Queryable } from '../../pool.ts'

/** How far chains and agents are together. */
export interface JoinProgress {
  /** Newest indexed block by chain; a chain without a batch is absent. */
  readonly indexedBlocks: Record<string, number>
  readonly agents: number
  /** Chains on which some listed agent holds an identity now. */
  readonly agentChains: string[]
  /** How many of the FIDs asked about are not listed yet, or not yet with the handle that the social network gave. */
  readonly unread: number
}

export async function readJoinProgress(db: Queryable, fids: readonly number[]): Promise<JoinProgress> {
  const { rows } = await db.query<JoinProgress>(
    `select coalesce((select json_object_agg(chain, indexed_block) from chain_state), '{}') as "indexedBlocks",
            (select count(*)::int from agent) as agents,
            coalesce((select array_agg(distinct chain) from agent, unnest(chains) as chain), '{}') as "agentChains",
            (select count(*)::int from unnest($1::bigint[]) as asked (fid)
              where not exists (select from agent join social_profile using (fid)
                                 where agent.fid = asked.fid and agent.handle is not distinct from social_profile.handle)
            ) as unread`,
    [fids],
  )
  return rows[0] as JoinProgress
}
