import { facilitatorListSource, facilitators } from './facilitator-list.ts'
import type { Queryable } from './pool.ts'
import { releaseSenders, storeSenders } from './queries/sources/facilitators.ts'

/** Brings the senders of the published list to the database, and takes those away that it names no more. May be repeated. */
export async function ensureFacilitatorRows(db: Queryable): Promise<void> {
  const named = facilitators.flatMap(({ name, senders }) => senders.map((address) => ({ address, name })))
  await releaseSenders(
    db,
    facilitatorListSource,
    named.map(({ address }) => address),
  )
  await storeSenders(db, facilitatorListSource, named)
}
