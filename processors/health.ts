import { Counter, Gauge, type Registry } from 'prom-client'
import type { ChainSettings } from '../chains.file.ts'
import type { Health } from '../ops/health.ts'
import type { Progress } from './progress.ts'

/** A processor that is behind the head and has committed nothing for so long is stuck. */
const stuckMs = 120_000

/** What a processor tells operators. `registry` is the SDK's, ours are added to it: one page shows both. */
export function createHealth({ name }: ChainSettings, progress: Progress, registry: Registry): Health {
  const labels = { chain: name }
  const registers = [registry]
  new Gauge({
    name: 'processor_indexed_block',
    help: 'Last block whose rows are committed',
    labelNames: ['chain'],
    registers,
    collect() {
      if (progress.indexedBlock !== undefined) this.set(labels, progress.indexedBlock)
    },
  })
  new Gauge({
    name: 'processor_head_block',
    help: 'Head of the source as last seen',
    labelNames: ['chain'],
    registers,
    collect() {
      if (progress.headBlock !== undefined) this.set(labels, progress.headBlock)
    },
  })
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

function describeProblem({ indexedBlock, headBlock, committedAt }: Progress, now: number): string | undefined {
  if (indexedBlock === undefined) return 'no block indexed yet'
  const isBehind = headBlock !== undefined && indexedBlock < headBlock
  if (isBehind && now - committedAt > stuckMs) {
    return `stuck at block ${indexedBlock} of ${headBlock} for ${Math.round((now - committedAt) / 1000)} seconds`
  }
  return undefined
}
