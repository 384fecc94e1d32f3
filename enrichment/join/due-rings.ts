import type pg from 'pg'
import { inTransaction } from '../../db/pool.ts'
import { areRingsDue, paidBy, storeRings, takeDueRings } from '../../db/queries/income/rings.ts'
import { holdRollup } from '../../db/queries/rollup/cursor.ts'
import { findRings, ringBounds } from './rings.ts'

/**
 * Searches the rings of at most `limit` due addresses: those that were added or removed, and those whose search saw a
 * payer that has paid since. Returns how many were due.
 */
export async function runRings(pool: pg.Pool, limit: number, bounds = ringBounds): Promise<number> {
  if (!(await areRingsDue(pool))) return 0
  return inTransaction(pool, async (db) => {
    await holdRollup(db)
    const due = await takeDueRings(db, limit)
    const own = due.filter(({ isIncome }) => isIncome).map(({ address }) => address)
    const found = await findRings(own, (payers) => paidBy(db, payers, bounds.payerSums), bounds)
    const gone = due.filter(({ isIncome }) => !isIncome)
    await storeRings(db, [...found, ...gone.map(({ address }) => ({ address, payers: [], reached: [] }))])
    return due.length
  })
}
