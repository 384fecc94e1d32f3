import type pg from 'pg'
import { deriveSearchedRegistrations } from '../db/queries/registrations/searched.ts'

/** Derives the rows by which the search over all registrations finds these. */
export async function deriveSearched(db: pg.PoolClient, keys: readonly string[]): Promise<undefined> {
  await deriveSearchedRegistrations(db, keys)
}
