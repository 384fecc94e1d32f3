import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { ChainSettings } from '../chains.file.ts'
import { tellBuild } from '../ops/build.ts'
import type { Health } from '../ops/health.ts'
import type { Auditor } from './audit/auditor.ts'
import type { Progress } from './progress.ts'
import type { ScopeLoader } from './scope/loader.ts'

/** Milliseconds behind the head without a commit, or without news of the head, after which a processor is not ready. */
const lateMs = 2 * 60_000
/** Milliseconds without progress after which a processor counts as hung. */
const stuckMs = 10 * 60_000
/** Seconds; from a block of the tip to the largest batch of history. */
const commitBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/**
 * What a processor tells operators. `registry` is the SDK's, ours are added to it: one page shows both. `loader`: of the
 * history of recipients that became known, when not every settlement is kept.
 */
export function createHealth(
  { name, finalityConfirmation }: Pick<ChainSettings, 'name' | 'finalityConfirmation'>,
  progress: Progress,
  registry: Registry,
  loader?: Pick<ScopeLoader, 'backlog' | 'turnedAt'>,
  auditor?: Pick<Auditor, 'mended' | 'blocksToGo'>,
): Health {
  const labels = { chain: name }
  const registers = [registry]
  const gauge = (metric: string, help: string, value: () => number | undefined) =>
    new Gauge({
      name: metric,
      help,
      labelNames: ['chain'],
      registers,
      collect() {
        const now = value()
        if (now !== undefined) this.set(labels, now)
      },
    })
  tellBuild(registry)
  const commits = new Histogram({
    name: 'processor_commit_seconds',
    help: 'Time of a transaction, from its begin to its commit',
    labelNames: ['chain'],
    buckets: commitBuckets,
    registers,
  })
  progress.onCommit = (seconds) => commits.observe(labels, seconds)
  gauge('processor_indexed_block', 'Last block whose rows are committed', () => progress.indexedBlock)
  gauge('processor_head_block', 'Head of the source as last seen', () => progress.headBlock)
  gauge(
    'processor_reorg_depth_blocks',
    'Indexed blocks that the last reorg took back; 0: there was none',
    () => progress.reorgs.lastDepth,
  )
  gauge(
    'processor_finality_blocks',
    'Blocks below the head that a reorg may still take back',
    () => finalityConfirmation,
  )
  if (loader) {
    gauge(
      'processor_scope_recipients_waiting',
      'Verified addresses whose settlements are not all loaded',
      () => loader.backlog.recipients,
    )
    gauge(
      'processor_scope_blocks_to_go',
      'Blocks to read for the verified address that is furthest behind',
      () => loader.backlog.blocks,
    )
  }
  if (auditor) {
    gauge(
      'audit_blocks_to_go',
      'Blocks written from a node that the auditor has not read again',
      () => auditor.blocksToGo,
    )
  }
  const count = (metric: string, help: string, total: () => number) =>
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
  count('processor_settlements_total', 'Settlements written since the start', () => progress.totals.settlements)
  count(
    'processor_unpaid_authorizations_total',
    'Authorizations since the start that moved no money: counted, not stored',
    () => progress.totals.unpaid,
  )
  count('processor_reorgs_total', 'Reorgs since the start', () => progress.reorgs.count)
  if (auditor) {
    count('audit_missing_rows_total', 'Settlements that a node left out, mended', () => auditor.mended.missing)
    count('audit_surplus_rows_total', 'Settlements that are not on the chain, deleted', () => auditor.mended.surplus)
    count('audit_changed_rows_total', 'Settlements with a wrong value, mended', () => auditor.mended.changed)
    count(
      'audit_contract_rows_total',
      'Rows of registrations, feedback and custody that were missing, too many or otherwise, mended',
      () => auditor.mended.contracts,
    )
    count('audit_unpaid_rows_total', 'Counts of unpaid authorizations, mended', () => auditor.mended.unpaid)
  }
  return {
    notReady: () =>
      progress.indexedBlock === undefined ? 'no block indexed yet' : describeDelay(progress, Date.now(), lateMs),
    stuck: () => describeDelay(progress, Date.now(), stuckMs) ?? describeHang(loader, Date.now()),
    metrics: () => registry.metrics(),
  }
}

/** Undefined: there was progress in the last `patienceMs`, or there is nothing to do. */
function describeDelay(
  { indexedBlock = -1, headBlock, committedAt, headSeenAt, behindSince = committedAt }: Progress,
  now: number,
  patienceMs: number,
): string | undefined {
  const seconds = (since: number) => Math.round((now - since) / 1000)
  if (now - Math.max(headSeenAt, committedAt) > patienceMs) {
    return `no block and no news of the head for ${seconds(Math.max(headSeenAt, committedAt))} seconds`
  }
  const since = Math.max(committedAt, behindSince)
  if (headBlock !== undefined && indexedBlock < headBlock && now - since > patienceMs) {
    return `at block ${indexedBlock} of ${headBlock} for ${seconds(since)} seconds`
  }
  return undefined
}

function describeHang(loader: Pick<ScopeLoader, 'backlog' | 'turnedAt'> | undefined, now: number): string | undefined {
  if (!loader || loader.backlog.recipients === 0 || now - loader.turnedAt <= stuckMs) return undefined
  const seconds = Math.round((now - loader.turnedAt) / 1000)
  return `the history of ${loader.backlog.recipients} recipients has not moved for ${seconds} seconds`
}
