import type { ChainName } from '../../chains.config.ts'
import type { Queryable } from '../pool.ts'

/** An agent as the feed shows it. */
export interface FeedAgent {
  readonly fid: number
  readonly handle: string | null
  readonly bio: string | null
  readonly oli: string | null
  /** In the chain table's order. */
  readonly chains: ChainName[]
  readonly claimed: boolean
  readonly claim_method: string | null
  readonly agent_status: string
  readonly listed_at: Date
  /** Never before `listed_at`. */
  readonly changed_at: Date
}

/** Newest first. */
export async function newestAgents(db: Queryable, limit: number): Promise<FeedAgent[]> {
  const { rows } = await db.query<FeedAgent>({
    name: 'newest-agents',
    text: `select fid, handle, bio, oli, chains, claimed, claim_method, agent_status, listed_at,
                  greatest(changed_at, listed_at) as changed_at
             from agent
            order by listed_at desc, fid desc
            limit $1`,
    values: [limit],
  })
  return rows
}

/** Number of the newest change of any agent; 0 before the first. */
export async function newestChange(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ seq: number }>({
    name: 'newest-change',
    text: 'select coalesce(max(seq), 0) as seq from agent_change',
  })
  return rows[0]?.seq ?? 0
}
