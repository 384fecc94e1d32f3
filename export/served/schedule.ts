import { setTimeout as delay } from 'node:timers/promises'
import { inTransaction } from '../../db/pool.ts'
import { tryLockExport } from '../../db/queries/exports/exports.ts'
import { UsageError } from '../../ops/cli.ts'
import type { RoundHealth } from './health.ts'
import { type RoundOptions, serveRound } from './round.ts'

interface ScheduleOptions extends Omit<RoundOptions, 'only'> {
  /** Minutes from the end of a round to the next one; undefined: there is only one round. */
  readonly everyMinutes: number | undefined
  readonly health: Pick<RoundHealth, 'began' | 'ended'>
}

/**
 * Runs one round, or rounds without end, each under the folder's lock. Throws a UsageError when another process writes
 * to the folder.
 */
export async function runRounds({ everyMinutes, health, ...round }: ScheduleOptions): Promise<void> {
  const { pool, folder, tell } = round
  for (;;) {
    await inTransaction(pool, async (lock) => {
      if (!(await tryLockExport(lock, folder))) throw new UsageError(`another process writes to ${folder}`)
      health.began()
      const files = await serveRound(round)
      health.ended(files)
      tell(`${folder}: ${files} new files`)
    })
    if (everyMinutes === undefined) return
    await delay(everyMinutes * 60_000)
  }
}
