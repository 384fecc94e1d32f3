import type { ChainName } from '../../../config/chains.ts'
import type { Queryable } from '../../pool.ts'
import { shownHandleAssurance } from '../sql/assurance.ts'

/** An agent as the feed shows it. */
export interface FeedAgent {
  readonly fid: number
  readonly handle: string | null
  /** Who says that the handle is the account's; null: it has none. */
  readonly handle_assurance: 'proven' | 'signed' | 'stated' | null
  readonly bio: string | null
  readonly oli: string | null
  /** In the chain table's order. */
  readonly chains: ChainName[]
  readonly claimed: boolean
  readonly claim_method: string | null
  readonly agent_status: string
  readonly listed_at: Date
  /** Time of the last change to anything shown; never before `listed_at`. */
  readonly changed_at: Date
}

/** Filters of the feed; null: the filter is not set. */
export interface FeedFilter {
  /** Any of these; an empty list matches nothing. */
  readonly chain: readonly ChainName[] | null
  readonly claimed: boolean | null
}

const chosen = '($1::text[] is null or chains && $1) and ($2::boolean is null or claimed = $2)'

/** The agents that were listed last, newest first. */
export async function newestAgents(
  db: Queryable,
  filter: FeedFilter,
  { limit, offset = 0 }: { limit: number; offset?: number },
): Promise<FeedAgent[]> {
  // Unnamed: planned with its values, so that a filter that is not there costs nothing.
  const { rows } = await db.query<FeedAgent>({
    text: `select fid, handle, ${shownHandleAssurance('agent')} as handle_assurance, bio, oli, chains, claimed, claim_method, agent_status, listed_at,
                  greatest(entry_changed_at, listed_at) as changed_at
             from agent
            where ${chosen}
            order by listed_at desc, fid desc
            limit $3 offset $4`,
    values: [filter.chain, filter.claimed, limit, offset],
  })
  return rows
}

/** FIDs of the agents that were listed last. */
export async function newestFids(db: Queryable, most: number): Promise<number[]> {
  const { rows } = await db.query<{ fid: number }>({
    name: 'newest-fids',
    text: 'select fid from agent order by listed_at desc, fid desc limit $1',
    values: [most],
  })
  return rows.map(({ fid }) => fid)
}

/** How many agents a feed has. */
export async function countAgents(db: Queryable, filter: FeedFilter): Promise<number> {
  const text = `select count(*) as total from agent where ${chosen}`
  const { rows } = await db.query<{ total: number }>({ text, values: [filter.chain, filter.claimed] })
  return rows[0]?.total ?? 0
}

/** Agents that left the index since a time and did not come back, the last first. */
export async function delistedAgents(
  db: Queryable,
  { since, limit }: { since: Date; limit: number },
): Promise<{ fid: number; delisted_at: Date }[]> {
  const { rows } = await db.query<{ fid: number; delisted_at: Date }>({
    name: 'delisted-agents',
    // Walks the index on delisted agents from the newest on, and ends with the limit.
    text: `select c.fid, c.changed_at as delisted_at
             from agent_change c
            where c.kind = 'delist' and c.changed_at >= $1 and not exists (select from agent a where a.fid = c.fid)
              and not exists (select from agent_change l where l.fid = c.fid and l.seq > c.seq)
            order by c.changed_at desc, c.fid
            limit $2`,
    values: [since, limit],
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

interface ListedAgent {
  readonly fid: number
  readonly changedAt: Date
}

/** A part of all agents by fid; empty beyond the last. */
export async function listedAgents(
  db: Queryable,
  { offset, limit }: { offset: number; limit: number },
): Promise<ListedAgent[]> {
  const { rows } = await db.query<ListedAgent>({
    name: 'listed-agents',
    text: 'select fid, changed_at as "changedAt" from agent order by fid offset $1 limit $2',
    values: [offset, limit],
  })
  return rows
}
