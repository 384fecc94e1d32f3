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
