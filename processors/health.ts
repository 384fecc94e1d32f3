import type { Registry } from 'prom-client'
import type { ChainSettings } from '../config/chains.file.ts'
import type { Health } from '../ops/health.ts'
import { addScraped, Histogram, tellBuild } from '../ops/metrics.ts'
import { type Jobs, metricsOf } from './metrics.ts'
import type { Progress } from './progress.ts'

/** Milliseconds behind the head without a commit, or without news of the head, after which a processor is not ready. */
const lateMs = 2 * 60_000
/** Milliseconds without progress after which a processor counts as hung. */
const stuckMs = 10 * 60_000
/** Histogram buckets of a commit's seconds: from one block at the tip to the largest batch of history. */
const commitBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** Metrics and health checks of a processor. `registry` is the SDK's and gets ours too: one page shows both. */
export function createHealth(
  chain: Pick<ChainSettings, 'name' | 'finalityConfirmation' | 'rpc'>,
  progress: Progress,
  registry: Registry,
  jobs: Jobs = {},
): Health {
  tellBuild(registry)
  const labels = { chain: chain.name }
  const commits = new Histogram({
    name: 'agent_directory_processor_commit_seconds',
    help: 'Time of a transaction, from its begin to its commit',
    labelNames: ['chain'],
    buckets: commitBuckets,
    registers: [registry],
  })
  progress.onCommit = (seconds) => commits.observe(labels, seconds)
  addScraped(registry, metricsOf(chain, progress, jobs), labels)
  return {
    notReady: () =>
      progress.indexedBlock === undefined ? 'no block indexed yet' : describeDelay(progress, Date.now(), lateMs),
    // Not the audit: what it waits for is no reason to end the indexing, and an alert tells when it is stuck.
    stuck: () => describeDelay(progress, Date.now(), stuckMs) ?? describeHang(jobs.loader, Date.now()),
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

function describeHang(loader: Jobs['loader'], now: number): string | undefined {
  if (!loader || loader.backlog.recipients === 0 || now - loader.turnedAt <= stuckMs) return undefined
  const seconds = Math.round((now - loader.turnedAt) / 1000)
  return `the history of ${loader.backlog.recipients} recipients has not moved for ${seconds} seconds`
}
