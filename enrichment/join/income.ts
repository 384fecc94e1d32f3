import type pg from 'pg'
import { inTransaction } from '../../db/pool.ts'
import {
  followAddresses,
  followOwners,
  moveIncomeProgress,
  nextChangedAgents,
} from '../../db/queries/income/followed-addresses.ts'
import { sumDueHours } from '../../db/queries/income/hours.ts'
import { takeChangedWallets } from '../../db/queries/income/wallets.ts'
import { holdRollup } from '../../db/queries/rollup/cursor.ts'
import { allowLargeSums } from '../../db/queries/server/transaction-settings.ts'

/** Changes of agents and of wallets applied in one transaction, for which the roll-up waits. */
const changesPerStep = 100
/** Most hours summed in one transaction; `paymentsPerStep`: most payments in them. */
const hoursPerStep = 500
const paymentsPerStep = 50_000

interface IncomeOptions {
  readonly pool: pg.Pool
  /** For tests. */
  readonly steps?: {
    readonly changes: number
    readonly hours: number
    readonly payments: number
  }
}

/**
 * One bounded pass over income: applies changes of agents' addresses and wallets, then sums up hours
 * that are due. Returns how much was done; zero: income agrees with the rolled up settlements.
 */
export async function runIncome({
  pool,
  steps = { changes: changesPerStep, hours: hoursPerStep, payments: paymentsPerStep },
}: IncomeOptions): Promise<number> {
  const followed = await inTransaction(pool, async (db) => {
    const changed = await nextChangedAgents(db, steps.changes)
    const wallets = await takeChangedWallets(db, steps.changes)
    const fids = [...new Set([...(changed?.fids ?? []), ...wallets.fids])]
    if (fids.length > 0) {
      await holdRollup(db)
      await followAddresses(db, fids)
      await followOwners(db, fids)
    }
    if (changed) await moveIncomeProgress(db, changed.change)
    return fids.length + wallets.events
  })
  const summed = await inTransaction(pool, async (db) => {
    await allowLargeSums(db)
    return sumDueHours(db, steps)
  })
  return followed + summed
}
