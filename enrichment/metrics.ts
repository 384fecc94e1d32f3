import type pg from 'pg'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { sources } from '../config/sources.ts'
import { countWaiting } from '../db/queries/due/queue.ts'
import { rollupLags } from '../db/queries/rollup/cursor.ts'
import { lastBackup } from '../db/queries/server/backup.ts'
import { reachedAges } from '../db/queries/sources/cursors.ts'
import { countDue, countSubjects, mostDue } from '../db/queries/sources/source-state.ts'
import { currentEpoch } from '../db/queries/transparency/epoch.ts'
import { derivations } from '../derive/derivations.ts'
import type { Host } from '../hosts/host.ts'
import { addScraped, Counter, counter, gauge, Histogram, type ScrapedMetric, tellBuild } from '../ops/metrics.ts'
import { hour } from '../ops/time.ts'
import { contradictions } from './cosignatures/witness.ts'

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

export function createMetrics(watched: MetricsOptions): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  tellBuild(registry)
  const reads = new Counter({
    name: 'agent_directory_enrichment_reads_total',
    help: 'Reads of sources by how they ended',
    labelNames: ['source', 'outcome'],
    registers,
  })
  // From 0 on, so that the first one is an increase.
  for (const outcome of contradictions) reads.inc({ source: sources.cosignatures.name, outcome }, 0)
  const passes = new Histogram({
    name: 'agent_directory_enrichment_pass_seconds',
    help: 'Time of a pass of a loop: of a kind of derivation, of a roll-up, of a source',
    labelNames: ['loop'],
    buckets: passBuckets,
    registers,
  })
  addScraped(registry, [
    ...metricsOfSources(watched),
    ...metricsOfDerivations(watched),
    ...metricsOfHubs(watched),
    ...metricsOfHosts(watched),
    ...metricsOfDatabase(watched),
  ])
  return {
    registry,
    read: (source, outcome) => reads.inc({ source, outcome }),
    passed: (loop, seconds) => passes.observe({ loop }, seconds),
    text: () => registry.metrics(),
  }
}

function metricsOfSources({ pool, now }: MetricsOptions): ScrapedMetric[] {
  const waiting = sharedQuestion(() => countDue(pool, now()))
  let counted: { readonly at: number; readonly subjects: ReturnType<typeof countSubjects> } | undefined
  const subjects = () => {
    const at = now().getTime()
    if (!counted || at - counted.at >= countedMs) {
      counted = { at, subjects: countSubjects(pool) }
      counted.subjects.catch(() => {
        counted = undefined
      })
    }
    return counted.subjects
  }
  return [
    gauge(
      'agent_directory_enrichment_subjects_due',
      `Subjects that wait to be read; counted up to ${mostDue}`,
      async () => (await waiting()).map(({ source, due }) => [{ source }, due]),
      ['source'],
    ),
    gauge(
      'agent_directory_enrichment_due_oldest_seconds',
      'How long the subject that waits longest has been due',
      async () => (await waiting()).map(({ source, late_seconds }) => [{ source }, late_seconds]),
      ['source'],
    ),
    gauge(
      'agent_directory_enrichment_subjects',
      'Subjects of each source; counted once an hour',
      async () => (await subjects()).map(({ source, known }) => [{ source }, known]),
      ['source'],
    ),
  ]
}

function metricsOfDerivations({ pool, now, silence }: MetricsOptions): ScrapedMetric[] {
  const kinds = derivations.map(({ kind }) => kind)
  const waiting = sharedQuestion(() => countWaiting(pool, kinds, now()))
  return [
    gauge(
      'agent_directory_enrichment_loop_silent_seconds',
      'How long a loop has been at work without a pass that succeeded; 0: its last one did',
      () => [...silence()].map(([loop, seconds]) => [{ loop }, seconds]),
      ['loop'],
    ),
    gauge(
      'agent_directory_enrichment_keys_waiting',
      'Marks of keys of a kind that are to be derived; counted up to 1000',
      async () => (await waiting()).map((count) => [{ kind: count.kind }, count.waiting]),
      ['kind'],
    ),
    gauge(
      'agent_directory_enrichment_keys_failing',
      'Keys of a kind of derivation whose last one failed; counted up to 1000',
      async () => (await waiting()).map((count) => [{ kind: count.kind }, count.failing]),
      ['kind'],
    ),
    gauge(
      'agent_directory_enrichment_keys_oldest_seconds',
      'How long the key of a kind that is derived next has been due; 0: none is',
      async () => (await waiting()).map((count) => [{ kind: count.kind }, count.oldest]),
      ['kind'],
    ),
    gauge(
      'agent_directory_rollup_lag_seconds',
      'Age of the oldest indexed payment that counts do not have; 0: they have all',
      async () => (await rollupLags(pool, now())).map(({ chain, seconds }) => [{ chain }, seconds]),
      ['chain'],
    ),
  ]
}

function metricsOfHubs({ pool, hubDoubt, hubFollowed, now }: MetricsOptions): ScrapedMetric[] {
  const ages = async (source: string) =>
    (await reachedAges(pool, source, now())).map(({ shard, seconds }) => [{ shard }, seconds] as const)
  return [
    gauge(
      'agent_directory_hub_event_lag_seconds',
      'Age of the newest event of the hub that is applied; of a stream that has none left, of the last question',
      () => ages(sources.events.name),
      ['shard'],
    ),
    gauge(
      'agent_directory_verification_sweep_age_seconds',
      'How long ago the last whole sweep of all accounts ended; absent before the first',
      () => ages(sources.sweep.name),
      ['shard'],
    ),
    gauge(
      'agent_directory_hub_followed',
      '1: this hub is followed, the first of HUB_URL or the next one that agrees with what was read',
      () => [[{ hub: hubFollowed() }, 1]],
      ['hub'],
    ),
    gauge(
      'agent_directory_enrichment_hub_doubted',
      '1: the hub is not believed, and nothing it says is stored',
      async () => Number((await hubDoubt()) !== undefined),
    ),
  ]
}

function metricsOfHosts({ hosts }: MetricsOptions): ScrapedMetric[] {
  return [
    gauge(
      'agent_directory_enrichment_host_closed',
      '1: no request goes out to this host now',
      () =>
        hosts.flatMap(({ name, state }) =>
          (['resting', 'broken'] as const).map((closed) => [{ host: name, state: closed }, Number(state() === closed)]),
        ),
      ['host', 'state'],
    ),
    gauge(
      'agent_directory_enrichment_host_budget_per_second',
      'Requests a second that may go out to this host. Absent where the host alone limits them',
      () =>
        hosts
          .filter(({ requestsPerSecond }) => Number.isFinite(requestsPerSecond))
          .map(({ name, requestsPerSecond }) => [{ host: name }, requestsPerSecond]),
      ['host'],
    ),
    counter(
      'agent_directory_enrichment_host_requests_total',
      'Requests that were let go out to this host since the start',
      () => hosts.map(({ name, sent }) => [{ host: name }, sent.count]),
      ['host'],
    ),
  ]
}

function metricsOfDatabase({ pool }: MetricsOptions): ScrapedMetric[] {
  return [
    gauge(
      'agent_directory_transparency_log_number',
      'Number of the transparency log; another one begins when entries of the one before were lost',
      async () => (await currentEpoch(pool)).epoch,
    ),
    gauge(
      'agent_directory_backup_taken_timestamp_seconds',
      'When npm run backup last copied the embedded database; absent: it never did',
      async () => {
        const takenAt = await lastBackup(pool)
        return takenAt && takenAt.getTime() / 1_000
      },
    ),
  ]
}

/** A question whose answer all metrics of a scrape share: nobody asks while it is being asked. */
function sharedQuestion<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let asked: Promise<Answer> | undefined
  return () => {
    asked ??= ask().finally(() => {
      asked = undefined
    })
    return asked
  }
}
