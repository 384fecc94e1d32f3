import type pg from 'pg'
import { profileLimits } from '../../../config/limits.ts'
import { inTransaction, type Queryable } from '../../pool.ts'
import { allowLargeSums } from '../server/transaction-settings.ts'
import { feedbackSummary, isJudged } from '../sql/feedback.ts'

/** Age in milliseconds at which an agent's stored count is refreshed. */
const staleMs = 600_000
/** Time budget of a round, in milliseconds, after which it begins no further count. */
const roundMs = 30_000

interface FeedbackOptions {
  readonly pool: pg.Pool
  readonly now: () => Date
}

/**
 * Counts the feedback of the agents that got very much of it or hold very many registrations, those first that were never
 * counted or longest ago. Returns how many agents were counted.
 */
export async function refreshFeedback({ pool, now }: FeedbackOptions): Promise<number> {
  const deadline = performance.now() + roundMs
  const due = await largeAgents(pool, new Date(now().getTime() - staleMs))
  let counted = 0
  for (const fid of due) {
    if (performance.now() > deadline) break
    await inTransaction(pool, async (db) => {
      await allowLargeSums(db)
      await countFeedback(db, fid, now())
    })
    counted++
  }
  return counted
}

/** FIDs to count, never counted or stalest first. Deletes stored counts of agents that are no longer large. */
async function largeAgents(db: Queryable, stale: Date): Promise<number[]> {
  const { rows } = await db.query<{ fid: number }>({
    name: 'much-feedback',
    text: `
with given as (
  select h.fid, sum(t.standing + t.revoked) as feedback
    from feedback_total t
    join agent_holding h using (chain, agent_id)
   where ${isJudged}
   group by h.fid
),
large as materialized (
  select a.fid
    from agent a
    left join given using (fid)
   where given.feedback > ${profileLimits.feedbackCountedAtOnce} or a.current_total > ${profileLimits.registrations}
),
gone as (delete from agent_feedback where fid not in (select fid from large))
select large.fid::float8 as fid
  from large
  left join agent_feedback kept using (fid)
 where kept.fid is null or kept.counted_at <= $1
 order by kept.counted_at nulls first, large.fid`,
    values: [stale],
  })
  return rows.map(({ fid }) => fid)
}

async function countFeedback(db: Queryable, fid: number, now: Date): Promise<void> {
  await db.query({
    name: 'count-feedback',
    text: `
insert into agent_feedback as kept (fid, summary, counted_at)
select a.fid, ${feedbackSummary('a')}, $2
  from agent a
 where a.fid = $1
    on conflict (fid) do update set (summary, counted_at) = (excluded.summary, excluded.counted_at)`,
    values: [fid, now],
  })
}
