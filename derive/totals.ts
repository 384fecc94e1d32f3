import type pg from 'pg'
import { deriveDirectorySums } from '../db/queries/rollup/directory-sums.ts'

/** Counts parts of the whole directory, whose sums are its totals. */
export async function deriveTotals(db: pg.PoolClient, keys: readonly string[]): Promise<undefined> {
  await deriveDirectorySums(db, keys)
}
