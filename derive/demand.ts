import type pg from 'pg'
import type { LaterKey } from '../db/queries/due/queue.ts'
import { deriveDemandOf } from '../db/queries/income/demand.ts'
import { allowLargeSums } from '../db/queries/server/transaction-settings.ts'
import type { DeriveContext } from './derivation.ts'

/** Derives who pays agents, given by FID, and who comes back. They are due again when an hour with a payer leaves a window. */
export async function deriveDemand(
  db: pg.PoolClient,
  keys: readonly string[],
  { now }: Pick<DeriveContext, 'now'>,
): Promise<readonly LaterKey[]> {
  await allowLargeSums(db)
  const at = now()
  const later: LaterKey[] = []
  for (const key of keys) {
    const dueAt = await deriveDemandOf(db, Number(key), at)
    if (dueAt) later.push({ key, dueAt })
  }
  return later
}
