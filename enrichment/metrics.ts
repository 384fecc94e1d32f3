import type pg from 'pg'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { countWaiting } from '../db/queries/due/queue.ts'
import { rollupLags } from '../db/queries/rollup/cursor.ts'
import { lastBackup } from '../db/queries/server/backup.ts'
import { reachedAges } from '../db/queries/sources/cursors.ts'
import { countDue, countSubjects, mostDue } from '../db/queries/sources/source-state.ts'
import { currentEpoch } from '../db/queries/transparency/epoch.ts'
import { derivations } from '../derive/derivations.ts'
import type { Host } from '../hosts/host.ts'
import { tellBuild } from '../ops/build.ts'
import { Counter, Gauge, Histogram } from '../ops/metrics.ts'
import { hour } from '../ops/time.ts'
import { sources } from '../sources.config.ts'

interface Metrics {
  readonly registry: Registry
  /** Counts a read of a source that ended, by its outcome. */
  read(source: string, outcome: string): void
  /** Records the duration of a loop's finished pass. */
  passed(loop: string, seconds: number): void
  /** Prometheus text. */
  text(): Promise<string>
}

interface MetricsOptions {
  readonly pool: pg.Pool
  readonly hosts: readonly Host[]
  readonly hubDoubt: () => Promise<string | undefined>
  readonly hubFollowed: () => string
  readonly now: () => Date
  /** Seconds for which each loop has been at work without a pass that succeeded. */
  readonly silence: () => ReadonlyMap<string, number>
}

/** Histogram buckets of a pass's seconds: from a pass without work to the longest that does not count as hung. */
const passBuckets = [0.01, 0.1, 1, 5, 15, 60, 300, 900]
/** Milliseconds for which a count of all subjects is cached: counting reads each of them. */
const countedMs = hour

export function createMetrics({ pool, hosts, hubDoubt, hubFollowed, now, silence }: MetricsOptions): Metrics {
  const registers = [new Registry()]
  const [registry] = registers as [Registry]
  collectDefaultMetrics({ register: registry })
  tellBuild(registry)
  const reads = new Counter({
    name: 'agent_directory_enrichment_reads_total',
    help: 'Reads of sources by how they ended',
    labelNames: ['source', 'outcome'],
    registers,
  })
  const passes = new Histogram({
    name: 'agent_directory_enrichment_pass_seconds',
    help: 'Time of a pass of a loop: of a kind of derivation, of a roll-up, of a source',
    labelNames: ['loop'],
    buckets: passBuckets,
    registers,
  })
  new Gauge({
    name: 'agent_directory_enrichment_loop_silent_seconds',
    help: 'How long a loop has been at work without a pass that succeeded; 0: its last one did',
    labelNames: ['loop'],
    registers,
    collect() {
      for (const [loop, seconds] of silence()) this.set({ loop }, seconds)
    },
  })
  const due = new Gauge({
    name: 'agent_directory_enrichment_subjects_due',
    help: `Subjects that wait to be read; counted up to ${mostDue}`,
    labelNames: ['source'],
    registers,
  })
  const known = new Gauge({
    name: 'agent_directory_enrichment_subjects',
    help: 'Subjects of each source; counted once an hour',
    labelNames: ['source'],
    registers,
  })
  const late = new Gauge({
    name: 'agent_directory_enrichment_due_oldest_seconds',
    help: 'How long the subject that waits longest has been due',
    labelNames: ['source'],
    registers,
  })
  const waiting = new Gauge({
    name: 'agent_directory_enrichment_keys_waiting',
    help: 'Marks of keys of a kind that are to be derived; counted up to 1000',
    labelNames: ['kind'],
    registers,
  })
  const failing = new Gauge({
    name: 'agent_directory_enrichment_keys_failing',
    help: 'Keys of a kind of derivation whose last one failed; counted up to 1000',
    labelNames: ['kind'],
    registers,
  })
  const oldest = new Gauge({
    name: 'agent_directory_enrichment_keys_oldest_seconds',
    help: 'How long the key of a kind that is derived next has been due; 0: none is',
    labelNames: ['kind'],
    registers,
  })
  const lag = new Gauge({
    name: 'agent_directory_rollup_lag_seconds',
    help: 'Age of the oldest indexed settlement that counts do not have; 0: they have all',
    labelNames: ['chain'],
    registers,
  })
  const behind = new Gauge({
    name: 'agent_directory_hub_event_lag_seconds',
    help: 'Age of the newest event of the hub that is applied; of a stream that has none left, of the last question',
    labelNames: ['shard'],
    registers,
  })
  const swept = new Gauge({
    name: 'agent_directory_verification_sweep_age_seconds',
    help: 'How long ago the last whole sweep of all accounts ended; absent before the first',
    labelNames: ['shard'],
    registers,
  })
  const followed = new Gauge({
    name: 'agent_directory_hub_followed',
    help: '1: this hub is followed, the first of HUB_URL or the next one that agrees with what was read',
    labelNames: ['hub'],
    registers,
  })
  const host = new Gauge({
    name: 'agent_directory_enrichment_host_closed',
    help: '1: no request goes out to this host now',
    labelNames: ['host', 'state'],
    registers,
  })
  const budget = new Gauge({
    name: 'agent_directory_enrichment_host_budget_per_second',
    help: 'Requests a second that may go out to this host. Absent where the host alone limits them',
    labelNames: ['host'],
    registers,
  })
  new Counter({
    name: 'agent_directory_enrichment_host_requests_total',
    help: 'Requests that were let go out to this host since the start',
    labelNames: ['host'],
    registers,
    collect() {
      this.reset()
      for (const { name, sent } of hosts) this.inc({ host: name }, sent.count)
    },
  })
  const doubted = new Gauge({
    name: 'agent_directory_enrichment_hub_doubted',
    help: '1: the hub is not believed, and nothing it says is stored',
    registers,
  })
  new Gauge({
    name: 'agent_directory_transparency_log_number',
    help: 'Number of the transparency log; another one begins when entries of the one before were lost',
    registers,
    async collect() {
      this.set((await currentEpoch(pool)).epoch)
    },
  })
  const backedUp = new Gauge({
    name: 'agent_directory_backup_taken_timestamp_seconds',
    help: 'When npm run backup last copied the embedded database; absent: it never did',
    registers,
  })
  backedUp.remove() // 0 would be a time
  let countedAt = Number.NEGATIVE_INFINITY
  async function tellSubjects() {
    const at = now().getTime()
    if (at - countedAt < countedMs) return
    for (const { source, known: count } of await countSubjects(pool)) known.set({ source }, count)
    countedAt = at
  }
  return {
    registry,
    read: (source, outcome) => reads.inc({ source, outcome }),
    passed: (loop, seconds) => passes.observe({ loop }, seconds),
    async text() {
      for (const row of await countDue(pool, now())) {
        due.set({ source: row.source }, row.due)
        late.set({ source: row.source }, row.late_seconds)
      }
      await tellSubjects()
      for (const { chain, seconds } of await rollupLags(pool, now())) lag.set({ chain }, seconds)
      const ages = [
        [behind, sources.events.name],
        [swept, sources.sweep.name],
      ] as const
      for (const [gauge, name] of ages) {
        for (const { shard, seconds } of await reachedAges(pool, name, now())) gauge.set({ shard }, seconds)
      }
      const kinds = derivations.map(({ kind }) => kind)
      for (const count of await countWaiting(pool, kinds, now())) {
        waiting.set({ kind: count.kind }, count.waiting)
        failing.set({ kind: count.kind }, count.failing)
        oldest.set({ kind: count.kind }, count.oldest)
      }
      const takenAt = await lastBackup(pool)
      if (takenAt) backedUp.set(takenAt.getTime() / 1_000)
      followed.reset()
      followed.set({ hub: hubFollowed() }, 1)
      doubted.set((await hubDoubt()) === undefined ? 0 : 1)
      for (const { name, requestsPerSecond, state } of hosts) {
        if (Number.isFinite(requestsPerSecond)) budget.set({ host: name }, requestsPerSecond)
        for (const closed of ['resting', 'broken'] as const) {
          host.set({ host: name, state: closed }, state() === closed ? 1 : 0)
        }
      }
      return registry.metrics()
    },
  }
}
