import type pg from 'pg'
import { followAddresses, followOwners } from '../db/queries/income/followed-addresses.ts'
import { markHoldersOf } from '../db/queries/join/holders.ts'
import { holdRollup } from '../db/queries/rollup/cursor.ts'

/** Follows the addresses of agents, given by FID, whose payments are their income. The roll-up waits meanwhile. */
export async function deriveIncome(db: pg.PoolClient, keys: readonly string[]): Promise<undefined> {
  const fids = keys.map(Number)
  await holdRollup(db)
  await followAddresses(db, fids)
  await followOwners(db, fids)
}

/** Makes the income due of whoever holds or held registrations whose wallets changed. */
export async function routeWallets(db: pg.PoolClient, registrations: readonly string[]): Promise<undefined> {
  await markHoldersOf(db, registrations, ['income'])
}
