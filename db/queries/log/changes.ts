import type { Queryable } from '../../pool.ts'
import { chosen, chosenValue, everyone, type LeftOut, listWithoutBroken } from '../sql/broken-rows.ts'
import { members } from '../sql/json-text.ts'
import { leanFields } from '../sql/lean-row.ts'

/**
 * Changes after a sequence number, oldest first, as lines of JSON; empty: none yet. A change tells how the agent is
 * now, which may be newer: an agent that is gone by now is delisted by whatever was noted of it.
 *
 * No number below one that is seen comes later: what notes changes holds the lock of the join until it commits.
 */
export async function changesAfter(
  db: Queryable,
  { since, limit, leftOut }: { since: number; limit: number; leftOut: LeftOut },
): Promise<string> {
  return listWithoutBroken({
    read: async (choice) => {
      const text = `${page}${lines}${chosen(choice, 'c.fid', '$3')}`
      const { rows } = await db.query<{ lines: string }>({
        name: choice === everyone ? 'changes-after' : undefined,
        text,
        values: [since, limit, ...chosenValue(choice)],
      })
      return rows[0]?.lines ?? ''
    },
    fids: async () => {
      const text = `${page}select distinct fid from page order by fid`
      const { rows } = await db.query<{ fid: number }>({ name: 'changed-fids', text, values: [since, limit] })
      return rows.map(({ fid }) => fid)
    },
    leftOut,
  })
}

/** Rows that go: those of before a time, and how many at once at most. */
export interface OldRows {
  readonly before: Date
  readonly limit: number
}

/**
 * Removes changes that a later one of the same agent, noted before a time, stands for: a mirror that has not seen them learns as
 * much from the later one. The one before a newer change stays, because that is what the newer one differs from. At most
 * `limit`, oldest first; returns how many.
 */
export async function forgetChanges(db: Queryable, { before, limit }: OldRows): Promise<number> {
  const { rowCount } = await db.query({
    name: 'forget-changes',
    text: `
delete from agent_change
 where seq in (select seq
                 from agent_change old
                where changed_at < $1
                  and (select later.changed_at
                         from agent_change later
                        where later.fid = old.fid and later.seq > old.seq
                        order by later.seq
                        limit 1) < $1
                order by seq
                limit $2)`,
    values: [before, limit],
  })
  return rowCount ?? 0
}

/** SQL: SHA-256, in hex, of the newest claim event of `c.fid`; null: it has none. */
const claimSha256 = `(select encode(e.sha256, 'hex') from claim_event e where e.fid = c.fid order by e.seq desc limit 1)`

const page = `
with change as (
  (select seq, fid from agent_change where seq > $1 order by seq limit $2)
   union all
  (select seq, fid from agent_activity where seq > $1 order by seq limit $2)
),
page as (select * from change order by seq limit $2)
`

const lines = `
select coalesce(string_agg(
         case when a.fid is null
              then json_build_object('seq', c.seq, 'kind', 'delist', 'fid', c.fid, 'claim_sha256', ${claimSha256})
              else json_build_object('seq', c.seq, 'kind', 'upsert', 'fid', c.fid,
                                     'agent', json_build_object(${members(leanFields)}),
                                     'claim_sha256', ${claimSha256}) end::text || E'\\n',
         '' order by c.seq), '') as lines
  from page c
  left join agent a using (fid)
`
