import type { Queryable } from '../pool.ts'
import { leanRow } from './lean-row.ts'

/**
 * Changes after a sequence number, oldest first, as lines of JSON; empty: none yet. A change tells how the agent is
 * now, which may be newer: an agent that is gone by now is delisted by whatever was noted of it.
 *
 * No number below one that is seen comes later: what notes changes holds the lock of the join until it commits.
 */
export async function changesAfter(db: Queryable, { since, limit }: { since: number; limit: number }): Promise<string> {
  const { rows } = await db.query<{ lines: string }>({ name: 'changes-after', text, values: [since, limit] })
  return rows[0]?.lines ?? ''
}

const text = `
with change as (
  (select seq, fid from agent_change where seq > $1 order by seq limit $2)
   union all
  (select seq, fid from agent_activity where seq > $1 order by seq limit $2)
),
page as (select * from change order by seq limit $2)
select coalesce(string_agg(
         case when a.fid is null
              then json_build_object('seq', c.seq, 'kind', 'delist', 'fid', c.fid)
              else json_build_object('seq', c.seq, 'kind', 'upsert', 'fid', c.fid,
                                     'agent', json_build_object(${leanRow})) end::text || E'\\n',
         '' order by c.seq), '') as lines
  from page c
  left join agent a using (fid)`
