import { setTimeout as delay } from 'node:timers/promises'
import { SourceFailure } from '../../../hosts/retries.ts'
import { describeError, Refusal } from '../../../ops/cli.ts'
import { wantedOf } from '../../history/history.ts'
import { findCallsIn, openHistory, openWitness } from '../../history/sources.ts'
import { isUnreachable } from '../../store/connection.ts'
import type { Job, Report } from '../job.ts'
import { loadShard } from '../shard.ts'

/** Worker process of a backfill, which starts it, sends it a job, and ends it. */

/** Attempts in a row while the database cannot be reached. */
const maxAttempts = 30
/** Attempts in a row while the node has something in blocks in which the source has nothing. */
const maxContradictions = 3
const pauseMs = 1_000

process.on('disconnect', () => process.exit(1)) // nobody is left to work for
process.on('SIGINT', () => {}) // a terminal signals all processes; the backfill ends this one
process.once('message', (job: Job) => {
  run(job).then(
    () => process.exit(0),
    (error: Error) => {
      const failed: Report = {
        kind: 'failed',
        text: describeError(error),
        isPassing: error instanceof SourceFailure,
      }
      process.send?.(failed, () => process.exit(1))
    },
  )
})

async function run(job: Job): Promise<void> {
  const warn = (text: string) => tell({ kind: 'warning', text })
  const { chain, source } = job
  const wanted = wantedOf(chain)
  const history = openHistory(source, wanted)
  const witness = openWitness(source, chain, wanted, warn)
  const findCalls = findCallsIn(history, chain, job, warn)
  let failures = 0
  const committed = (nextBlock: number, settlements: number) => {
    failures = 0
    tell({ kind: 'committed', nextBlock, settlements })
  }
  for (;;) {
    try {
      await loadShard({ job, history, witness, findCalls, log: { warn } as never, committed })
      break
    } catch (error) {
      const isContradiction = error instanceof SourceFailure
      const most = isContradiction ? maxContradictions : maxAttempts
      if (!(isContradiction || isConnectionLost(error)) || ++failures >= most) throw error
      warn(`${isContradiction ? '' : 'the database: '}${(error as Error).message}; attempt ${failures} of ${most}`)
      await delay(pauseMs)
    }
  }
  await new Promise<void>((resolve) => process.send?.({ kind: 'done' } satisfies Report, () => resolve()))
}

/** Whether the database stops, starts or cannot be reached, or its disk is full until somebody makes room. */
function isConnectionLost(error: unknown): boolean {
  if (error instanceof Refusal) return false
  return isUnreachable(error) || (error as { code?: string }).code === '53100'
}

function tell(report: Report): void {
  process.send?.(report)
}
