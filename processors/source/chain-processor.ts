import { EvmArchive } from '@subsquid/evm-processor/lib/ds-archive/client.js'
import type { Logger } from 'pino'
import type { ChainSettings } from '../../config/chains.file.ts'
import { Retries, retrying } from '../../hosts/retries.ts'
import { ArchiveClient } from '../archive-client.ts'
import type { Backfilled } from '../backfilled.ts'
import type { BlockPlace } from '../continuity.ts'
import { PortalClient } from '../portal/client.ts'
import { Portal } from '../portal/portal.ts'
import type { Progress } from '../progress.ts'
import { RpcClient, type RpcTransport } from '../rpc-client.ts'
import { HttpTransport } from '../rpc-http.ts'
import { ConfirmedArchive, type ConfirmedArchiveOptions } from './confirmed-archive.ts'
import { deepReorg, GuardedHotSource, GuardedSource } from './deep-reorg.ts'
import { MetricsPage } from './metrics-page.ts'
import { NodeSource } from './node-source.ts'
import { checkSdk, type SdkArchive, type SdkClient, type SdkHotSource, SdkProcessor, type SdkSource } from './sdk.ts'
import { type SdkLog, toSdkLog } from './sdk-log.ts'
import { SocketTransport } from './socket-transport.ts'
import { fields, firstBlock, request } from './wanted-logs.ts'
import { WatchedArchive } from './watched-archive.ts'
import { archiveWithoutBackfilled } from './without-backfilled.ts'

export interface SourceOptions {
  readonly chain: ChainSettings
  /** API key of the Portal; undefined: requests carry none. */
  readonly portalKey: string | undefined
  readonly log: Logger
  readonly progress: Progress
  /** Newest block whose rows will not be undone. */
  readonly final: () => BlockPlace | undefined
  readonly backfilled: Backfilled
  /** Ranges that backfills have reserved by now, from a block on, ascending. */
  readonly reservedFrom?: (block: number) => Promise<Backfilled>
  /** Opens a witness of what the archive tells; absent: it is believed. */
  readonly openWitness?: ConfirmedArchiveOptions['openWitness']
}

const rpcTimeoutMs = 30_000

/**
 * The SDK's processor with parts of this program in the places of its own: one log, one page of metrics, our client
 * of the node, a self-hosted archive when one is set, else the Portal, and sources that guard what is final. Each part is made
 * once, when the SDK first asks for it.
 */
export class ChainProcessor extends SdkProcessor {
  readonly #options: SourceOptions
  #log: SdkLog | undefined
  #metrics: MetricsPage | undefined
  #node: RpcClient | undefined
  #hotSource: (SdkSource & SdkHotSource) | undefined
  #archive: SdkArchive | undefined
  #archiveSource: SdkSource | undefined

  /** Throws when the installed SDK lacks methods that are overridden. */
  constructor(options: SourceOptions) {
    checkSdk()
    super()
    this.#options = options
    const { chain, backfilled, progress } = options
    this.setFields(fields)
    const archive = chain.gateway ?? chain.portal
    if (archive) {
      this.setGateway(archive)
      progress.archiveReadTo = firstBlock(chain, backfilled) - 1
    }
    if (chain.rpc) {
      // Retries are RpcClient's.
      this.setRpcEndpoint({ url: chain.rpc, requestTimeout: rpcTimeoutMs, retryAttempts: 0 })
      this.setFinalityConfirmation(chain.finalityConfirmation)
    } else this.setRpcDataIngestionSettings({ disabled: true })
    request(this, chain, backfilled)
  }

  override getLogger(): SdkLog {
    this.#log ??= toSdkLog(this.#options.log)
    return this.#log
  }

  override getPrometheusServer(): MetricsPage {
    this.#metrics ??= new MetricsPage(super.getPrometheusServer())
    return this.#metrics
  }

  override getChainRpcClient(): SdkClient {
    const { chain, log, progress } = this.#options
    this.#node ??= new RpcClient(this.#openTransport(), {
      log,
      seeHead: (height) => progress.seeHead(height),
      watch: progress.sources.node,
      batch: chain.batch,
    })
    return this.#node
  }

  #openTransport(): RpcTransport {
    const url = this.#options.chain.rpc as string
    if (!url.startsWith('http')) return new SocketTransport(super.getChainRpcClient())
    this.getPrometheusServer().addChainRpcMetrics(() => this.getChainRpcClient().getMetrics())
    return new HttpTransport(url)
  }

  override getHotDataSource(): SdkSource & SdkHotSource {
    const { chain, progress, log, final } = this.#options
    this.#hotSource ??= new GuardedHotSource(
      new NodeSource({
        node: this.getChainRpcClient(),
        finalityConfirmation: chain.finalityConfirmation,
        bloom: chain.bloom,
        progress,
        log,
        sdkLog: this.getLogger().child('rpc'),
      }),
      { chain, final, log },
    )
    return this.#hotSource
  }

  override getArchiveDataSource(): SdkSource {
    const { chain, reservedFrom, progress, final, log } = this.#options
    const archive = archiveWithoutBackfilled(this.historyArchive(), chain.paymentContracts, reservedFrom)
    const onRead = (height: number) => {
      progress.archiveReadTo = height
    }
    this.#archiveSource ??= new GuardedSource(new EvmArchive(archive as never), { chain, final, log, onRead })
    return this.#archiveSource
  }

  /** Blocks and traces of the past. */
  historyArchive(): SdkArchive {
    const { chain, progress, final, log } = this.#options
    const node = chain.rpc ? this.getChainRpcClient() : undefined
    this.#archive ??= new WatchedArchive(this.#confirmed(this.#openArchive()), { chain, node, progress, final, log })
    return this.#archive
  }

  /** An archive is not believed alone where there is a node to compare it with. */
  #confirmed(archive: SdkArchive): SdkArchive {
    const { chain, progress, log, openWitness } = this.#options
    if (!openWitness) return archive
    const name = chain.gateway ? 'the archive' : 'the Portal'
    return new ConfirmedArchive(archive, { name, openWitness, log, watch: progress.sources.portal })
  }

  #openArchive(): SdkArchive {
    const { chain, log, final, portalKey, progress } = this.#options
    if (!chain.gateway && chain.portal) {
      const client = new PortalClient({ url: chain.portal, dataset: chain.dataset, key: portalKey })
      const foreignChain = (block: BlockPlace, found: string | undefined) => deepReorg(chain, block, found)
      return new Portal({ client, log, final, foreignChain, watch: progress.sources.portal })
    }
    const archive = new ArchiveClient(chain.gateway as string)
    const policy = { source: 'the archive', watch: progress.sources.portal }
    return {
      getHeight: () => retrying(new Retries(log, policy), () => archive.height()),
      query: (query) => retrying(new Retries(log, policy), () => archive.query(query)),
    }
  }
}
