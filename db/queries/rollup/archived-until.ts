import type { Queryable } from '../../pool.ts'

/** Block time of the newest archived row of each chain that has such rows. */
export async function archivedUntil(db: Queryable): Promise<Map<string, Date>> {
  const { rows } = await db.query<{ chain: string; until: Date }>({
    name: 'archived-until',
    text: 'select chain, until from settlement_archived where until is not null',
  })
  return new Map(rows.map(({ chain, until }) => [chain, until]))
}
