import type pg from 'pg'
import { forgetChanges } from '../../db/queries/read/changes.ts'

/** Milliseconds for which every change of an agent is kept; of older ones only each agent's newest is. */
export const keptMs = 30 * 86_400_000
/** Changes removed in one transaction. */
const changesPerPass = 10_000

/** One bounded pass that removes old changes which later ones supersede. Returns how many were removed. */
export function forgetOldChanges({
  pool,
  now,
  perPass = changesPerPass,
}: {
  readonly pool: pg.Pool
  readonly now: () => Date
  /** For tests. */
  readonly perPass?: number
}): Promise<number> {
  return forgetChanges(pool, { before: new Date(now().getTime() - keptMs), limit: perPass })
}
