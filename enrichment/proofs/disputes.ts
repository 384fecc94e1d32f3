import type { Queryable } from '../../db/pool.ts'
import { claimedAmong } from '../../db/queries/join/claim-checks.ts'
import { askForSubjects } from '../../db/queries/sources/source-state.ts'
import { disputedMessages } from '../../db/queries/sources/witnesses.ts'
import { minute } from '../../ops/time.ts'
import { sources } from '../../sources.config.ts'

/** Milliseconds after which a message that a hub still lacks is disputed: the network spreads messages in seconds. */
export const disputedAfterMs = 5 * minute

/** Runs `store`, and makes the claims of an account due when its disputed messages are others than before. */
export async function storeTestimony<T>(db: Queryable, fid: number, now: Date, store: () => Promise<T>): Promise<T> {
  const before = await disputedMessages(db, fid)
  const stored = await store()
  const isOther = before.join() !== (await disputedMessages(db, fid)).join()
  if (isOther && (await claimedAmong(db, [fid])).length > 0)
    await askForSubjects(db, sources.claims.name, [`fid:${fid}`], { priority: 2, dueAt: now })
  return stored
}
