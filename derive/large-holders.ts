import type pg from 'pg'
import { deriveFromSums } from '../db/queries/agents/agents.ts'
import { deriveWithFollowUp } from '../db/queries/agents/follow-up.ts'
import { deriveLargeHolder } from '../db/queries/agents/large-holders.ts'
import { lockJoin } from '../db/queries/agents/lock.ts'
import { markDue } from '../db/queries/due/queue.ts'
import type { DeriveContext } from './derivation.ts'

/** Derives holdings of large holders without the join's lock, so that nobody waits for them; their rows are due then. */
export async function deriveLargeHolders(
  db: pg.PoolClient,
  keys: readonly string[],
  { now }: DeriveContext,
): Promise<undefined> {
  for (const key of keys) await deriveLargeHolder(db, Number(key), now())
  await markDue(db, 'summed holders', keys)
}

/** Derives the rows of large holders from the totals of their holdings. */
export async function deriveSummedHolders(
  db: pg.PoolClient,
  keys: readonly string[],
  { perAgent = [], now }: DeriveContext,
): Promise<undefined> {
  await lockJoin(db)
  await deriveWithFollowUp(db, { fids: keys.map(Number), perAgent, now: now() }, deriveFromSums)
}
