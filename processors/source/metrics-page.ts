import { hostOf } from '../../hosts/host.ts'
import type { SdkMetrics } from './sdk.ts'

/** The SDK's numbers, served on one page with ours instead of by a server of the SDK. */
export class MetricsPage implements SdkMetrics {
  /** Where the page is served, for the SDK's log. */
  port = 0

  constructor(private readonly metrics: SdkMetrics) {}

  get registry() {
    return this.metrics.registry
  }

  addRunnerMetrics(metrics: unknown): void {
    this.metrics.addRunnerMetrics(metrics)
  }

  /** Reports the node's host instead of its address, which may hold a key: every scraper sees the metrics. */
  addChainRpcMetrics(collect: Parameters<SdkMetrics['addChainRpcMetrics']>[0]): void {
    this.metrics.addChainRpcMetrics(() => {
      const now = collect()
      return { ...now, url: hostOf(now.url) }
    })
  }

  async serve(): Promise<{ port: number }> {
    return { port: this.port }
  }
}
