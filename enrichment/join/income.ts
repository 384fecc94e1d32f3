import type pg from 'pg'
import { inTransaction } from '../../db/pool.ts'
import { sumDueHours } from '../../db/queries/income/hours.ts'
import { allowLargeSums } from '../../db/queries/server/transaction-settings.ts'

/** Most hours summed in one transaction, and most payments in them. */
const most = { hours: 500, payments: 50_000 }

/** Sums up some hours of income that are due. Returns how many; zero: income agrees with the rolled up settlements. */
export function sumIncome(pool: pg.Pool, steps = most): Promise<number> {
  return inTransaction(pool, async (db) => {
    await allowLargeSums(db)
    return sumDueHours(db, steps)
  })
}
