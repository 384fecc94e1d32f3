import type pg from 'pg'
import type { LaterKey } from '../db/queries/due/queue.ts'
import { deriveFiguresOf } from '../db/queries/rollup/agent-figures.ts'
import { deriveDirectorySums } from '../db/queries/rollup/directory-sums.ts'
import { countRecipients, deriveCountsOf } from '../db/queries/rollup/recipient-counts.ts'
import { lookUpByKey } from '../db/queries/server/transaction-settings.ts'
import type { DeriveContext } from './derivation.ts'

/** Counts what addresses, lowercase hex, were paid. They are due again when something leaves a window. */
export async function deriveRecipients(
  db: pg.PoolClient,
  keys: readonly string[],
  { settlementOverloads, now }: DeriveContext,
): Promise<readonly LaterKey[]> {
  await lookUpByKey(db)
  return countRecipients(db, keys, { settlementOverloads, now: now() })
}

/** Sums up what agents were paid. Addresses of new ones are counted at once: they would be shown without it for a minute. */
export async function deriveCounts(
  db: pg.PoolClient,
  keys: readonly string[],
  { settlementOverloads, now }: DeriveContext,
): Promise<undefined> {
  await deriveCountsOf(db, { fids: keys.map(Number), settlementOverloads, now: now() })
}

/** Counts parts of the whole directory, whose sums are its totals. */
export async function deriveTotals(db: pg.PoolClient, keys: readonly string[]): Promise<undefined> {
  await deriveDirectorySums(db, keys)
}

/** Derives what agents, given by FID, were paid. They are due again when the next hour leaves a window. */
export async function deriveFigures(
  db: pg.PoolClient,
  keys: readonly string[],
  { now, settlementOverloads, again = false }: DeriveContext,
): Promise<readonly LaterKey[]> {
  const later = await deriveFiguresOf(db, { fids: keys.map(Number), settlementOverloads, now: now(), again })
  return later.map(({ fid, dueAt }) => ({ key: fid, dueAt }))
}
