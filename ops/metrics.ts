import { existsSync, readFileSync } from 'node:fs'
import type { Registry } from 'prom-client'
import * as prom from 'prom-client'

/** Name of a metric of ours. All have one prefix: a Prometheus holds the metrics of many programs. */
type OwnName = `agent_directory_${string}`

type Own<Options> = Options & { readonly name: OwnName }

/** A counter of ours. */
export class Counter<Label extends string = string> extends prom.Counter<Label> {
  constructor(options: Own<prom.CounterConfiguration<Label>>) {
    super(options)
  }
}

/** A gauge of ours. */
export class Gauge<Label extends string = string> extends prom.Gauge<Label> {
  constructor(options: Own<prom.GaugeConfiguration<Label>>) {
    super(options)
  }
}

/** A histogram of ours. */
export class Histogram<Label extends string = string> extends prom.Histogram<Label> {
  constructor(options: Own<prom.HistogramConfiguration<Label>>) {
    super(options)
  }
}

/** Values of a metric as they are now: a number if it has no labels of its own, else each with its labels; undefined: it is absent. */
type Values = number | undefined | Iterable<readonly [labels: Readonly<Record<string, string>>, value: number]>

/** A metric whose values are asked for at each scrape. */
export interface ScrapedMetric {
  readonly type: typeof Gauge | typeof Counter
  readonly name: OwnName
  readonly help: string
  readonly values: () => Values | Promise<Values>
  readonly labelNames: readonly string[]
}

export function gauge(
  name: OwnName,
  help: string,
  values: ScrapedMetric['values'],
  labelNames: readonly string[] = [],
): ScrapedMetric {
  return { type: Gauge, name, help, values, labelNames }
}

export function counter(
  name: OwnName,
  help: string,
  values: ScrapedMetric['values'],
  labelNames: readonly string[] = [],
): ScrapedMetric {
  return { type: Counter, name, help, values, labelNames }
}

/** Adds metrics that are asked for at each scrape; each of their series has the labels of `shared` too. */
export function addScraped(
  registry: prom.Registry,
  metrics: readonly ScrapedMetric[],
  shared: Readonly<Record<string, string>> = {},
): void {
  for (const { type, name, help, values, labelNames: ownNames } of metrics) {
    const labelNames = [...Object.keys(shared), ...ownNames]
    const collect = async () => {
      const now = await values()
      metric.reset()
      if (labelNames.length === 0) metric.remove() // a reset leaves a metric without labels at 0
      const series = typeof now === 'number' ? [[{}, now] as const] : (now ?? [])
      for (const [own, value] of series) {
        const labels = { ...shared, ...own }
        if (metric instanceof Gauge) metric.set(labels, value)
        else metric.inc(labels, value)
      }
    }
    const metric: Gauge | Counter = new type({ name, help, labelNames, registers: [registry], collect })
  }
}

/** Version of this program, the same as in package.json; `npm run release` writes both. */
const version = '0.1.0'

/** File with the commit that `npm run build` compiled; absent when run from the sources. */
const noted = new URL('../commit', import.meta.url)

/** Registers `agent_directory_build_info{version, commit, node}`, always 1; `commit` is empty where it is unknown. */
export function tellBuild(registry: Registry): void {
  const commit = existsSync(noted) ? readFileSync(noted, 'utf8').trim() : ''
  const labels = { version, commit, node: process.version }
  const help = 'Always 1; the labels say which program this is'
  new Gauge({ name: 'agent_directory_build_info', help, labelNames: Object.keys(labels), registers: [registry] }).set(
    labels,
    1,
  )
}
