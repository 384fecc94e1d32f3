import type pg from 'pg'
import { incomeAddressesOf, paidBy, storeRings } from '../db/queries/income/rings.ts'
import { holdRollup } from '../db/queries/rollup/cursor.ts'
import { findRings, ringBounds } from './ring-search.ts'

/** Searches the rings of addresses, lowercase hex; one that is no agent's any more has none. The roll-up waits meanwhile. */
export async function deriveRings(db: pg.PoolClient, addresses: readonly string[]): Promise<undefined> {
  await holdRollup(db)
  const own = await incomeAddressesOf(db, addresses)
  const found = await findRings([...own], (payers) => paidBy(db, payers, ringBounds.payerSums), ringBounds)
  const gone = addresses.filter((address) => !own.has(address))
  await storeRings(db, [...found, ...gone.map((address) => ({ address, payers: [], reached: [] }))])
}
