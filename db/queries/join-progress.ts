import type { Queryable } from '../pool.ts'

/** How far chains and agents are together. */
export interface JoinProgress {
  /** Newest indexed block by chain; a chain without a batch is absent. */
  readonly indexedBlocks: Record<string, number>
  readonly agents: number
  /** Chains on which some listed agent holds an identity now. */
  readonly agentChains: string[]
}

export async function readJoinProgress(db: Queryable): Promise<JoinProgress> {
  const { rows } = await db.query<JoinProgress>(
    `select coalesce((select json_object_agg(chain, indexed_block) from chain_state), '{}') as "indexedBlocks",
            (select count(*)::int from agent) as agents,
            coalesce((select array_agg(distinct chain) from agent, unnest(chains) as chain), '{}') as "agentChains"`,
  )
  return rows[0] as JoinProgress
}
