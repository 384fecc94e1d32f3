import type pg from 'pg'
import { sources } from '../config/sources.ts'
import type { LaterKey } from '../db/queries/due/queue.ts'
import { askForFiles, forgetGoneFiles, matchPayments } from '../db/queries/feedback/files.ts'
import { forgetSubjects } from '../db/queries/sources/source-state.ts'
import { minute } from '../ops/time.ts'
import type { DeriveContext } from './derivation.ts'

/** Least milliseconds until a payment that was not found is looked for again; then half of the feedback's age. */
const soonestMs = 10 * minute

/** Has the files that feedback names read, and looks up the payments that they name, until these are found or not ours. */
export async function deriveFeedbackFiles(
  db: pg.PoolClient,
  ids: readonly string[],
  { now }: DeriveContext,
): Promise<readonly LaterKey[]> {
  const at = now()
  const gone = await forgetGoneFiles(db, ids)
  await forgetSubjects(
    db,
    sources.feedbackFiles.name,
    gone.map((id) => `feedback:${id}`),
  )
  await askForFiles(db, ids, at)
  const open = await matchPayments(db, ids)
  return open.map(({ id, givenAt }) => ({
    key: id,
    dueAt: new Date(at.getTime() + Math.max(soonestMs, (at.getTime() - givenAt.getTime()) / 2)),
  }))
}
