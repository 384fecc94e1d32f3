import type pg from 'pg'
import type { LaterKey } from '../db/queries/due/queue.ts'
import { deriveFiguresOf } from '../db/queries/rollup/agent-figures.ts'
import type { DeriveContext } from './derivation.ts'

/** Derives what agents, given by FID, were paid. They are due again when the next hour leaves a window. */
export async function deriveFigures(
  db: pg.PoolClient,
  keys: readonly string[],
  { now, settlementOverloads, again = false }: DeriveContext,
): Promise<readonly LaterKey[]> {
  const later = await deriveFiguresOf(db, { fids: keys.map(Number), settlementOverloads, now: now(), again })
  return later.map(({ fid, dueAt }) => ({ key: fid, dueAt }))
}
