import type { Queryable } from '../../pool.ts'

/** Whether a FID is in the index. */
export async function agentExists(db: Queryable, fid: number): Promise<boolean> {
  const { rows } = await db.query({ name: 'agent-exists', text: 'select from agent where fid = $1', values: [fid] })
  return rows.length > 0
}
