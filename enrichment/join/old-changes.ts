import type pg from 'pg'
import { forgetChanges } from '../../db/queries/read/changes.ts'
import { documentLimits } from '../../limits.config.ts'
import { day } from '../../ops/time.ts'

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
  return forgetChanges(pool, { before: new Date(now().getTime() - documentLimits.changeDays * day), limit: perPass })
}
