import type { Queryable } from '../../pool.ts'

/** Makes the partitions of a chain up to a block that are not there. Fails when it would have to wait for a lock long. */
export async function ensurePartitions(db: Queryable, chain: string, upTo: number): Promise<void> {
  await db.query('select ensure_settlement_partitions($1, $2)', [chain, upTo])
}
