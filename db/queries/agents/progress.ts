import type { Queryable } from '../../pool.ts'
import { isListed } from '../sql/settlement-filter.ts'

/** How far chains and agents are together. */
export interface JoinProgress {
  /** Newest indexed block by chain; a chain without a batch is absent. */
  readonly indexedBlocks: Record<string, number>
  readonly agents: number
  /** Chains on which some listed agent holds an identity now. */
  readonly agentChains: string[]
  /** How many of the FIDs asked about are not listed yet, or not yet with the handle that the social network gave. */
  readonly unread: number
  /** Addresses of agents that were paid more often than is counted. */
  readonly uncounted: number
}

/** `countedUntil`: what was paid since may be counted later. For a small world: it counts all that agents were paid. */
export async function readJoinProgress(
  db: Queryable,
  { fids, countedUntil }: { readonly fids: readonly number[]; readonly countedUntil: Date },
): Promise<JoinProgress> {
  const { rows } = await db.query<JoinProgress>(
    `select coalesce((select json_object_agg(chain, indexed_block) from chain_state), '{}') as "indexedBlocks",
            (select count(*)::int from agent) as agents,
            coalesce((select array_agg(distinct chain) from agent, unnest(chains) as chain), '{}') as "agentChains",
            (select count(*)::int from unnest($1::bigint[]) as asked (fid)
              where not exists (select from agent join social_profile using (fid)
                                 where agent.fid = asked.fid and agent.handle is not distinct from social_profile.handle)
            ) as unread,
            (select count(*)::int
               from (select distinct unnest(verified_addresses) as address from agent) a
               left join recipient_counts c using (address)
              where coalesce(c.ever, 0) < (select count(*) from settlement s
                                            where s.recipient = a.address and ${isListed('s.selector')}
                                              and s.block_timestamp < $2)) as uncounted`,
    [fids, countedUntil],
  )
  return rows[0] as JoinProgress
}
