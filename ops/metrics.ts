import * as prom from 'prom-client'

/** Name of a metric of ours. All have one prefix: a Prometheus holds the metrics of many programs. */
export type OwnName = `agent_directory_${string}`

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
