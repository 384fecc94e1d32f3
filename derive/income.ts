import type pg from 'pg'
import { markHoldersOf } from '../db/queries/agents/holders.ts'
import type { LaterKey } from '../db/queries/due/queue.ts'
import { deriveDemandOf, markArchivedOwners } from '../db/queries/income/demand.ts'
import { countEscrowFees, followFundings, markEscrowHours, sumEscrows } from '../db/queries/income/escrows.ts'
import { followAddresses, followOwners } from '../db/queries/income/followed-addresses.ts'
import { sumHours } from '../db/queries/income/hours.ts'
import { countIncomeSums } from '../db/queries/income/sums.ts'
import { holdRollup } from '../db/queries/rollup/cursor.ts'
import { allowLargeSums, lookUpByKey } from '../db/queries/server/transaction-settings.ts'
import type { DeriveContext } from './derivation.ts'

/** Most payments in the hours that are summed up in one transaction, but for the first. */
const mostPayments = 50_000

/** Most rows of a payment of an escrow that are read in one transaction. */
const mostRows = 500

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

/** Most rows of what is paid out of one job, channel or escrow that are read in one transaction: for each, fundings are read. */
const mostFunded = 100

/** Finds who funded what was paid out of jobs, channels and escrows; what is too much for one transaction is due again. */
export async function deriveFunders(
  db: pg.PoolClient,
  keys: readonly string[],
  { now }: Pick<DeriveContext, 'now'>,
  most = mostFunded,
): Promise<readonly LaterKey[]> {
  return again(await followFundings(db, keys, most), now)
}

/** Sums up what refunds took off payments of escrows; what is too much for one transaction is due again. */
export async function deriveEscrows(
  db: pg.PoolClient,
  keys: readonly string[],
  { now }: Pick<DeriveContext, 'now'>,
  most = mostRows,
): Promise<readonly LaterKey[]> {
  await lookUpByKey(db)
  return again(await sumEscrows(db, keys, most), now)
}

/** Marks the hours of payments of escrows; what is too much for one transaction is due again. */
export async function deriveEscrowHours(
  db: pg.PoolClient,
  keys: readonly string[],
  { now }: Pick<DeriveContext, 'now'>,
  most = mostRows,
): Promise<readonly LaterKey[]> {
  await lookUpByKey(db)
  return again(await markEscrowHours(db, keys, most), now)
}

/** Counts the fees in sums of payments. The roll-up waits meanwhile. */
export async function deriveEscrowFees(db: pg.PoolClient, keys: readonly string[]): Promise<undefined> {
  await holdRollup(db)
  await allowLargeSums(db)
  await countEscrowFees(db, keys)
}

/** Sums up the income of hours; those that are too much for one transaction are due again. */
export async function deriveIncomeHours(
  db: pg.PoolClient,
  hours: readonly string[],
  { now }: Pick<DeriveContext, 'now'>,
  most = mostPayments,
): Promise<readonly LaterKey[]> {
  await allowLargeSums(db)
  return again(await sumHours(db, hours, most), now)
}

/** Counts the sums of hours again, given as `agent:` and a FID, or `chain:` and its name. */
export async function deriveIncomeSums(db: pg.PoolClient, keys: readonly string[]): Promise<undefined> {
  const named = (what: string) => keys.filter((key) => key.startsWith(what)).map((key) => key.slice(what.length))
  await allowLargeSums(db)
  await countIncomeSums(db, { fids: named('agent:').map(Number), chains: named('chain:') })
}

function again(left: readonly string[], now: () => Date): readonly LaterKey[] {
  const dueAt = now()
  return left.map((key) => ({ key, dueAt }))
}

/** Most addresses of agents that are looked at in one transaction, but for those of one agent. */
const mostOwners = 500

/** Makes the demand due of agents that their own addresses paid on an archived chain, from an agent on; the others are due again. */
export async function deriveArchivedOwners(
  db: pg.PoolClient,
  keys: readonly string[],
  { now }: Pick<DeriveContext, 'now'>,
  most = mostOwners,
): Promise<readonly LaterKey[]> {
  await lookUpByKey(db)
  return again(await markArchivedOwners(db, keys, most), now)
}

/** Derives who pays agents, given by FID, and who comes back. They are due again when an hour with a payer leaves a window. */
export async function deriveDemand(
  db: pg.PoolClient,
  keys: readonly string[],
  { now }: Pick<DeriveContext, 'now'>,
): Promise<readonly LaterKey[]> {
  await allowLargeSums(db)
  const at = now()
  const later: LaterKey[] = []
  for (const key of keys) {
    const dueAt = await deriveDemandOf(db, Number(key), at)
    if (dueAt) later.push({ key, dueAt })
  }
  return later
}
