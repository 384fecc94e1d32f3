import type { Registry } from 'prom-client'
import type { ChainSettings } from '../chains.file.ts'
import { lagObjective } from '../chains.row.ts'
import { tellBuild } from '../ops/build.ts'
import type { Health } from '../ops/health.ts'
import { Counter, Gauge, Histogram, type OwnName } from '../ops/metrics.ts'
import type { Auditor } from './audit/auditor.ts'
import type { Progress } from './progress.ts'
import type { ScopeLoader } from './scope/loader.ts'

/** Milliseconds behind the head without a commit, or without news of the head, after which a processor is not ready. */
const lateMs = 2 * 60_000
/** Milliseconds without progress after which a processor counts as hung. */
const stuckMs = 10 * 60_000
/** Histogram buckets of a commit's seconds: from one block at the tip to the largest batch of history. */
const commitBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** Background jobs of the processor whose state is reported; absent: the job does not run. */
interface Beside {
  /** Loads the history of recipients that become known; runs when not every settlement is kept. */
  readonly loader?: Pick<ScopeLoader, 'backlog' | 'turnedAt'> | undefined
  readonly auditor?: Pick<Auditor, 'mended' | 'disputed' | 'succeededAt' | 'blocksToGo'> | undefined
  /** What the chain's backfills have loaded; they are commands and have no /metrics of their own. */
  readonly loads?: () => Promise<{ readonly blocksToGo: number; readonly settlements: number }>
}

/** Metrics and health checks of a processor. `registry` is the SDK's and gets ours too: one page shows both. */
export function createHealth(
  { name, finalityConfirmation, rpc }: Pick<ChainSettings, 'name' | 'finalityConfirmation' | 'rpc'>,
  progress: Progress,
  registry: Registry,
  { loader, auditor, loads }: Beside = {},
): Health {
  const labels = { chain: name }
  const registers = [registry]
  type Value = number | undefined
  const gauge = (metric: OwnName, help: string, value: () => Value | Promise<Value>) =>
    new Gauge({
      name: metric,
      help,
      labelNames: ['chain'],
      registers,
      async collect() {
        const now = await value()
        if (now === undefined) this.reset()
        else this.set(labels, now)
      },
    })
  tellBuild(registry)
  const commits = new Histogram({
    name: 'agent_directory_processor_commit_seconds',
    help: 'Time of a transaction, from its begin to its commit',
    labelNames: ['chain'],
    buckets: commitBuckets,
    registers,
  })
  progress.onCommit = (seconds) => commits.observe(labels, seconds)
  gauge('agent_directory_processor_indexed_block', 'Last block whose rows are committed', () => progress.indexedBlock)
  gauge('agent_directory_processor_head_block', 'Head of the source as last seen', () => progress.headBlock)
  gauge(
    'agent_directory_processor_reorg_depth_blocks',
    'Indexed blocks that the last reorg took back; 0: there was none',
    () => progress.reorgs.lastDepth,
  )
  gauge(
    'agent_directory_processor_finality_blocks',
    'Blocks below the head that a reorg may still take back',
    () => finalityConfirmation,
  )
  gauge(
    'agent_directory_processor_final_block',
    'Newest block whose rows no reorg takes back',
    () => progress.finalBlock,
  )
  gauge(
    'agent_directory_processor_upgraded_timestamp_seconds',
    'Time of the newest block in which the proxy of a registry or token got a new implementation; 0: none since the start',
    () => progress.upgradedAt / 1_000,
  )
  gauge(
    'agent_directory_processor_last_commit_timestamp_seconds',
    'When the last transaction was committed; before the first, when the process started',
    () => progress.committedAt / 1_000,
  )
  gauge(
    'agent_directory_processor_head_seen_timestamp_seconds',
    'When the source last told its head; before that, when the process started',
    () => progress.headSeenAt / 1_000,
  )
  gauge(
    'agent_directory_processor_lag_objective_seconds',
    'How old the newest indexed block may be: more where no node tells the tip, and final blocks alone are read',
    () => (rpc ? lagObjective.atTip : lagObjective.whenFinal),
  )
  if (loads) {
    const ask = () => loads().catch(() => undefined)
    gauge(
      'agent_directory_backfill_blocks_to_go',
      'Blocks reserved for backfills that are not loaded yet; absent while the database does not answer',
      async () => (await ask())?.blocksToGo,
    )
    gauge(
      'agent_directory_backfill_rows',
      'Settlements that backfills have loaded; absent while the database does not answer',
      async () => (await ask())?.settlements,
    )
  }
  if (loader) {
    gauge(
      'agent_directory_processor_scope_recipients_waiting',
      'Verified addresses whose settlements are not all loaded',
      () => loader.backlog.recipients,
    )
    gauge(
      'agent_directory_processor_scope_blocks_to_go',
      'Blocks to read for the verified address that is furthest behind',
      () => loader.backlog.blocks,
    )
  }
  if (auditor) {
    gauge(
      'agent_directory_audit_blocks_to_go',
      'Blocks written from a node that the auditor has not read again',
      () => auditor.blocksToGo,
    )
    gauge(
      'agent_directory_audit_succeeded_timestamp_seconds',
      'When a round of the audit last ended without a failure; absent: none has since the start',
      () => auditor.succeededAt && auditor.succeededAt / 1_000,
    )
  }
  const count = (metric: OwnName, help: string, total: () => number) =>
    new Counter({
      name: metric,
      help,
      labelNames: ['chain'],
      registers,
      collect() {
        this.reset()
        this.inc(labels, total())
      },
    })
  count(
    'agent_directory_processor_settlements_total',
    'Settlements written since the start',
    () => progress.totals.settlements,
  )
  count(
    'agent_directory_processor_unpaid_authorizations_total',
    'Authorizations since the start that moved no money: counted, not stored',
    () => progress.totals.unpaid,
  )
  const sources = Object.entries(progress.sources)
  new Counter({
    name: 'agent_directory_processor_source_errors_total',
    help:
      'Questions to the Portal or the node since the start that failed: busy, it asked for a pause; useless, its answer ' +
      'was no use; silent, there was none',
    labelNames: ['chain', 'source', 'kind'],
    registers,
    collect() {
      this.reset()
      for (const [source, { failures }] of sources) {
        for (const [kind, times] of Object.entries(failures)) this.inc({ ...labels, source, kind }, times)
      }
    },
  })
  new Counter({
    name: 'agent_directory_processor_source_wait_seconds_total',
    help: 'Time since the start in which work waited for the Portal or the node after a failure',
    labelNames: ['chain', 'source'],
    registers,
    collect() {
      this.reset()
      for (const [source, { waitedSeconds }] of sources) this.inc({ ...labels, source }, waitedSeconds)
    },
  })
  count(
    'agent_directory_processor_bloom_mismatches_total',
    'Blocks since the start whose logs bloom told of more than their logs, which two methods of the node agreed on',
    () => progress.bloomMismatches,
  )
  count('agent_directory_processor_reorgs_total', 'Reorgs since the start', () => progress.reorgs.count)
  if (auditor) {
    count(
      'agent_directory_audit_missing_rows_total',
      'Settlements that a node left out, mended',
      () => auditor.mended.missing,
    )
    count(
      'agent_directory_audit_surplus_rows_total',
      'Settlements that are not on the chain, deleted',
      () => auditor.mended.surplus,
    )
    count(
      'agent_directory_audit_changed_rows_total',
      'Settlements with a wrong value, mended',
      () => auditor.mended.changed,
    )
    count(
      'agent_directory_audit_contract_rows_total',
      'Rows of registrations, feedback and custody that were missing, too many or otherwise, mended',
      () => auditor.mended.contracts,
    )
    count(
      'agent_directory_audit_disputed_rows_total',
      'Rows that the history source denies and that stay, because the node confirms them or they are too many',
      () => auditor.disputed,
    )
    count(
      'agent_directory_audit_unpaid_rows_total',
      'Counts of unpaid authorizations, mended',
      () => auditor.mended.unpaid,
    )
  }
  return {
    notReady: () =>
      progress.indexedBlock === undefined ? 'no block indexed yet' : describeDelay(progress, Date.now(), lateMs),
    // Not the audit: what it waits for is no reason to end the indexing, and an alert tells when it is stuck.
    stuck: () => describeDelay(progress, Date.now(), stuckMs) ?? describeHang(loader, Date.now()),
    metrics: () => registry.metrics(),
  }
}

/** Why the processor is late, and which source it waits for; undefined: there was progress in the last `maxMs`, or there is nothing to do. */
function describeDelay(
  { indexedBlock = -1, headBlock, committedAt, headSeenAt, behindSince = committedAt, sources }: Progress,
  now: number,
  maxMs: number,
): string | undefined {
  const seconds = (since: number) => Math.round((now - since) / 1000)
  const problem = sources.node.problem ?? sources.portal.problem
  const reason = problem ? `: ${problem}` : ''
  if (now - Math.max(headSeenAt, committedAt) > maxMs) {
    return `no block and no news of the head for ${seconds(Math.max(headSeenAt, committedAt))} seconds${reason}`
  }
  const since = Math.max(committedAt, behindSince)
  if (headBlock !== undefined && indexedBlock < headBlock && now - since > maxMs) {
    return `at block ${indexedBlock} of ${headBlock} for ${seconds(since)} seconds${reason}`
  }
  return undefined
}

function describeHang(loader: Pick<ScopeLoader, 'backlog' | 'turnedAt'> | undefined, now: number): string | undefined {
  if (!loader || loader.backlog.recipients === 0 || now - loader.turnedAt <= stuckMs) return undefined
  const seconds = Math.round((now - loader.turnedAt) / 1000)
  return `the history of ${loader.backlog.recipients} recipients has not moved for ${seconds} seconds`
}
