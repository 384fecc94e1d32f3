import type pg from 'pg'
import type { LaterKey } from '../db/queries/due/queue.ts'
import { deriveCountsOf } from '../db/queries/rollup/agent-counts.ts'
import { countRecipients } from '../db/queries/rollup/recipient-counts.ts'
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
