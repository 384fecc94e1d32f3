import { Counter, Gauge, type Registry } from 'prom-client'
import type { ChainSettings } from '../chains.file.ts'
import type { Health } from '../ops/health.ts'
import type { Progress } from './progress.ts'
import type { ScopeLoader } from './scope/loader.ts'

/** A processor is stuck when it is behind the head and has committed nothing for so long, or hears nothing for so long. */
const stuckMs = 120_000

/**
 * What a processor tells operators. `registry` is the SDK's, ours are added to it: one page shows both. `loader`: of the
 * history of recipients that became known, when not every settlement is kept.
 */
export function createHealth(
  { name }: ChainSettings,
  progress: Progress,
  registry: Registry,
  loader?: Pick<ScopeLoader, 'backlog'>,
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
  gauge('processor_indexed_block', 'Last block whose rows are committed', () => progress.indexedBlock)
  gauge('processor_head_block', 'Head of the source as last seen', () => progress.headBlock)
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
  return { notReady: () => describeProblem(progress, Date.now()), metrics: () => registry.metrics() }
}

function describeProblem({ indexedBlock, headBlock, committedAt, headSeenAt }: Progress, now: number) {
  if (indexedBlock === undefined) return 'no block indexed yet'
  const seconds = (since: number) => Math.round((now - since) / 1000)
  if (now - Math.max(headSeenAt, committedAt) > stuckMs) {
    return `no block and no news of the head for ${seconds(Math.max(headSeenAt, committedAt))} seconds`
  }
  if (headBlock !== undefined && indexedBlock < headBlock && now - committedAt > stuckMs) {
    return `at block ${indexedBlock} of ${headBlock} for ${seconds(committedAt)} seconds`
  }
  return undefined
}
