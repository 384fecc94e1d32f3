import type { Queryable } from '../pool.ts'

/** Rows of the largest views, by name. It counts every row, so it is for recording costs only, not for serving. */
export async function tableSizes(db: Queryable): Promise<Record<string, number>> {
  const { rows } = await db.query<Record<string, number>>(`
select (select count(*) from directory.agents) as agents,
       (select count(*) from directory.addresses) as addresses,
       (select count(*) from directory.settlements) as settlements,
       (select count(*) from directory.agent_settlements where fid = 1) as "settlements of agent 1"`)
  return rows[0] ?? {}
}
