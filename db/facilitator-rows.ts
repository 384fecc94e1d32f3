import { facilitatorListSource, facilitators } from './facilitator-list.ts'
import type { Queryable } from './pool.ts'
import { releaseSenders, storeSenders } from './queries/sources/facilitators.ts'

/** Stores the accounts of the published list, and deletes those it no longer names. Idempotent. */
export async function ensureFacilitatorRows(db: Queryable): Promise<void> {
  const named = facilitators.flatMap(({ name, senders }) => senders.map((address) => ({ address, name })))
  await releaseSenders(
    db,
    facilitatorListSource,
    named.map(({ address }) => address),
  )
  await storeSenders(db, facilitatorListSource, named)
}
