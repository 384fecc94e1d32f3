import { refreshFeedback } from '../../db/queries/feedback/feedback-counts.ts'
import { markLaterDemand } from '../../db/queries/income/demand.ts'
import { refreshRankings } from '../../db/queries/leaderboard/rankings.ts'
import { markOtherFigures } from '../../db/queries/rollup/agent-figures.ts'
import { refreshSeriesPayers } from '../../db/queries/rollup/series-payers.ts'
import type { DeriveContext } from '../../derive/derivation.ts'
import { derivations } from '../../derive/derivations.ts'
import { settle } from '../../derive/pass.ts'
import { forgetOldRows } from '../periodic/old-rows.ts'
import { refreshCounts, rollUpSettlements } from '../periodic/rollup.ts'
import type { Rest } from './watchdog.ts'

/** Work of the job that is no derivation by key: each row has a loop of its own. */
interface PeriodicWork {
  /** As metrics, readiness and the log name its loop. */
  readonly name: string
  readonly rest: Rest
  /** Shortest rest as a multiple of the pass's time. Default: 0. */
  readonly restFactor?: number
  /** A bounded piece of work. Returns how much there was to do; zero: it rests before the next. */
  pass(context: DeriveContext): Promise<number>
}

/** A pass that does all there is, and then rests. */
const whole = (refresh: (context: DeriveContext) => Promise<unknown>) => async (context: DeriveContext) => {
  await refresh(context)
  return 0
}

const figures = derivations.filter(({ kind }) => kind === 'figures')

async function rank(context: DeriveContext): Promise<void> {
  const { pool, settlementOverloads, now } = context
  await markOtherFigures(pool, { settlementOverloads, now: now() })
  await markLaterDemand(pool, now())
  await settle(figures, context)
  await refreshRankings(context)
}

export const periodicWork: readonly PeriodicWork[] = [
  { name: 'settlement roll-up', rest: 'rollup', pass: ({ pool }) => rollUpSettlements({ pool }) },
  { name: 'settlement counts', rest: 'with counts', pass: whole(refreshCounts) },
  { name: 'payers', rest: 'with counts', pass: whole(refreshSeriesPayers) },
  { name: 'feedback', rest: 'with counts', pass: whole(refreshFeedback) },
  // Ranking reads all figures and may use a tenth of the time.
  { name: 'rankings', rest: 'with counts', restFactor: 9, pass: whole(rank) },
  { name: 'old rows', rest: 'old rows', pass: ({ pool, now }) => forgetOldRows({ pool, now }) },
]
