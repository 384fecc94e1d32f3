import type { ChainName } from '../../../chains.config.ts'
import type { Queryable } from '../../pool.ts'

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
  /** When anything that is shown changed last; never before `listed_at`. */
  readonly changed_at: Date
}

/** Which agents; null: no filter. */
export interface FeedFilter {
  /** Any of these; an empty list matches nothing. */
  readonly chain: readonly ChainName[] | null
  readonly claimed: boolean | null
}

/** The agents that were listed last, newest first. */
export async function newestAgents(db: Queryable, filter: FeedFilter, limit: number): Promise<FeedAgent[]> {
  // Unnamed: planned with its values, so that a filter that is not there costs nothing.
  const { rows } = await db.query<FeedAgent>({
    text: `select fid, handle, bio, oli, chains, claimed, claim_method, agent_status, listed_at,
                  greatest(entry_changed_at, listed_at) as changed_at
             from agent
            where ($2::text[] is null or chains && $2) and ($3::boolean is null or claimed = $3)
            order by listed_at desc, fid desc
            limit $1`,
    values: [limit, filter.chain, filter.claimed],
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
