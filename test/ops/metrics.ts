import type pg from 'pg'
import { Histogram, type Metric, Registry } from 'prom-client'
import { vi } from 'vitest'
import { createMetrics as metricsOfApi } from '../../api/http/metrics.ts'
import { chainOf } from '../../config/chains.ts'
import { createMetrics as metricsOfEnrichment } from '../../enrichment/metrics.ts'
import { createHealth as healthOfExports } from '../../export/served/health.ts'
import { createLogger } from '../../ops/logger.ts'
import { outliveStrays } from '../../ops/strays.ts'
import { createHealth } from '../../processors/health.ts'
import { Progress } from '../../processors/progress.ts'
import { SdkProcessor } from '../../processors/source/sdk.ts'

/** Names of labels, by the name of their series. */
export type Series = ReadonlyMap<string, readonly string[]>

/** Labels that Prometheus adds to every scraped series. */
export const labelsOfTargets = ['job', 'instance']

/** All series that our processes export at /metrics, those of optional parts too; needs no database. */
export function seriesOfProcesses(): Series {
  const registered = vi.spyOn(Registry.prototype, 'registerMetric')
  try {
    registerAll()
    return new Map(registered.mock.calls.flatMap(([metric]) => seriesOf(metric)))
  } finally {
    registered.mockRestore()
  }
}

function seriesOf(metric: Metric<string>): [name: string, labels: string[]][] {
  // The types of prom-client hide these fields, which every metric has.
  const { name, labelNames } = metric as unknown as { name: string; labelNames: readonly string[] }
  const labels = [...labelNames, ...labelsOfTargets]
  if (!(metric instanceof Histogram)) return [[name, labels]]
  return [
    [`${name}_bucket`, [...labels, 'le']],
    [`${name}_count`, labels],
    [`${name}_sum`, labels],
  ]
}

function registerAll() {
  const page = new SdkProcessor().getPrometheusServer()
  page.addRunnerMetrics({})
  page.addChainRpcMetrics(() => ({ url: '', requestsServed: 0, connectionErrors: 0 }))
  const mended = { missing: 0, surplus: 0, changed: 0, contracts: 0, unpaid: 0 }
  const loader = { backlog: { recipients: 0, blocks: 0 }, turnedAt: 0 }
  createHealth({ name: 'base', rpc: null, ...chainOf('base') }, new Progress(), page.registry, {
    loader,
    auditor: { mended, disputed: 0, succeededAt: 0, blocksToGo: 0 },
    late: { blocksToGo: 0, secondsToGo: 0 },
    loads: async () => ({ blocksToGo: 0, settlements: 0 }),
  })
  const listening = process.listeners('uncaughtException')
  outliveStrays(createLogger('test', 'silent'), page.registry)
  for (const one of process.listeners('uncaughtException')) {
    if (!listening.includes(one)) process.off('uncaughtException', one) // strays of tests have to fail them
  }
  healthOfExports({ rowsPerSecond: 1, everyMinutes: 1, now: Date.now })
  const pool = {} as pg.Pool
  const standby = { counts: { answered: 0, behind: 0, away: 0, foreign: 0, cancelled: 0 }, ageMs: 0 }
  metricsOfApi({
    cache: { bytes: 0, size: 0 },
    database: pool,
    pool,
    statements: { cancelledCount: 0 },
    standby,
  })
  metricsOfEnrichment({
    pool,
    hosts: [],
    hubDoubt: async () => undefined,
    hubFollowed: () => 'hub.example',
    now: () => new Date(),
    silence: () => new Map(),
  })
}

const groupings = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g
const words = new Set(['and', 'or', 'unless', 'bool', 'offset'])

/** Series that a PromQL expression reads, each with the labels it is selected, grouped or joined by. */
export function seriesRead(expression: string): [name: string, labels: string[]][] {
  const bare = expression.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/\[[^\]]*\]/g, '')
  const shared = [...bare.matchAll(groupings)].flatMap(([, list]) => list!.match(/\w+/g) ?? [])
  const selectors = bare.replace(groupings, '').matchAll(/(?<![\w:.])([a-zA-Z_:][\w:]*)(?![\w:]|\s*\()\s*(\{[^}]*\})?/g)
  return [...selectors]
    .filter(([, name]) => !words.has(name!))
    .map(([, name, matchers = '']) => [name!, [...shared, ...(matchers.match(/\w+/g) ?? [])]])
}

/** Unknown series and labels that an expression reads, one line each; empty: all are in `known`. */
export function unknownTo(known: Series, expression: string): string[] {
  return seriesRead(expression).flatMap(([name, labels]) => {
    const has = known.get(name)
    if (!has) return [`${name}, in ${expression}`]
    return labels.filter((label) => !has.includes(label)).map((label) => `${name}{${label}}, in ${expression}`)
  })
}
