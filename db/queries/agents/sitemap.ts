import type { Queryable } from '../../pool.ts'

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
