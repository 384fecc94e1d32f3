import { collectDefaultMetrics, Registry } from 'prom-client'
import type { Health } from '../../ops/health.ts'
import { Counter, Gauge } from '../../ops/metrics.ts'
import type { Pace } from './pace.ts'

/** Time without a row after which a round counts as stuck: the database first sorts a whole snapshot. */
const stuckMs = 60 * 60_000
/** Rows between two heartbeats, at most; at a low rate limit these take long. */
const batchRows = 50_000

export interface RoundHealth extends Health {
  readonly stuck: () => string | undefined
  readonly notReady: () => string | undefined
  readonly metrics: () => Promise<string>
  /** Wraps a pace so that the rows it is called with are counted and show that the round goes on. */
  readonly watched: (pace: Pace) => Pace
  readonly began: () => void
  readonly ended: (newFiles: number) => void
}

interface HealthOptions {
  readonly rowsPerSecond: number
  /** Minutes from the end of a round to the next one; undefined: there is only one round. */
  readonly everyMinutes: number | undefined
  /** Current time, in milliseconds since the epoch. */
  readonly now: () => number
}

/** Health checks and metrics of the process that keeps the served files up to date. */
export function createHealth({ rowsPerSecond, everyMinutes = 0, now }: HealthOptions): RoundHealth {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const rows = new Counter({
    name: 'agent_directory_export_rows_total',
    help: 'Rows written since the start',
    registers: [registry],
  })
  const files = new Counter({
    name: 'agent_directory_export_files_total',
    help: 'Files written since the start',
    registers: [registry],
  })
  const last = new Gauge({
    name: 'agent_directory_export_round_ended_timestamp_seconds',
    help: 'When the newest round ended, after which the files are up to date; 0: none has',
    registers: [registry],
  })
  new Gauge({
    name: 'agent_directory_export_interval_seconds',
    help: 'From the end of a round to the next one',
    registers: [registry],
  }).set(everyMinutes * 60)
  const timeoutMs = stuckMs + (batchRows / rowsPerSecond) * 1_000
  let movedAt: number | undefined
  let hasEnded = false
  return {
    stuck: () =>
      movedAt !== undefined && now() - movedAt > timeoutMs
        ? `a round has written nothing for ${Math.round((now() - movedAt) / 1_000)} seconds`
        : undefined,
    notReady: () => (hasEnded ? undefined : 'no round has ended yet'),
    metrics: () => registry.metrics(),
    watched: (pace) => async (count) => {
      rows.inc(count)
      movedAt = now()
      await pace(count)
    },
    began() {
      movedAt = now()
    },
    ended(newFiles) {
      movedAt = undefined
      hasEnded = true
      files.inc(newFiles)
      last.set(now() / 1_000)
    },
  }
}
