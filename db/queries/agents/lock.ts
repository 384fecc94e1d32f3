import { lockKeys } from '../../lock-keys.ts'
import type { Queryable } from '../../pool.ts'

/**
 * Makes the join the work of one transaction at a time: what is routed has been derived or will be, and `agent_change`
 * grows in the order of commits.
 *
 * Its statements look a few rows up by key. While tables fill for the first time, the planner does not know that they
 * are large, and would read them whole; so the transaction is told not to.
 */
export async function lockJoin(db: Queryable): Promise<void> {
  await db.query({
    name: 'lock-join',
    text: `select pg_advisory_xact_lock($1), set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`,
    values: [lockKeys.join],
  })
}

/**
 * SQL: numbers the agents of a query for `fid` as moved, after all that changed before. Settlements, messages and answers of
 * hosts are activity of an agent, which mirrors follow like its changes. Only under the join's lock, so that numbers are given
 * in the order of commits.
 */
export function activityOf(fids: string): string {
  return `
  insert into agent_activity (fid, seq, changed_at)
  select fid, nextval(pg_get_serial_sequence('agent_change', 'seq')), now() from (${fids} order by fid) moved
      on conflict (fid) do update set seq = excluded.seq, changed_at = excluded.changed_at`
}
