import type { EvmBatchProcessor } from '@subsquid/evm-processor'
import { EvmArchive } from '@subsquid/evm-processor/lib/ds-archive/client.js'
import type { Logger } from 'pino'
import type { ChainSettings } from '../../chains.file.ts'
import { createTraceLookup } from '../mapping/traces.ts'
import { Portal } from '../portal/portal.ts'
import { PortalService } from '../portal/service.ts'
import type { Progress } from '../progress.ts'
import { followHead, headPollMs } from './head.ts'
import { checkBlocks } from './node-answers.ts'
import { addPatience } from './node-patience.ts'
import { deepReorg, type FinalBlock, guardFinality } from './reorg.ts'
import { type Backfilled, type Fields, fields, request } from './request.ts'
import { isAnswer, openSdk, type SdkArchive, type SdkInside, type SdkNode, type SdkSource } from './sdk.ts'
import { hideAddresses, hostOf, toSdkLog } from './sdk-log.ts'

export interface SourceOptions {
  readonly chain: ChainSettings
  /** Key of the Portal; undefined: asked without one. */
  readonly portalKey: string | undefined
  readonly log: Logger
  readonly progress: Progress
  /** Newest block whose rows will not be undone. */
  readonly final: () => FinalBlock | undefined
  readonly backfilled: Backfilled
}

type Processor = EvmBatchProcessor<Fields>

const rpcTimeoutMs = 30_000

/** Where a chain's blocks come from: history from an archive when there is one, the tip from a node when there is one. */
export function createSource(options: SourceOptions) {
  const { chain, log } = options
  const sdk = openSdk()
  const { inside } = sdk
  inside.getLogger = memoize(() => toSdkLog(log))
  const processor: Processor = sdk.processor.setFields(fields)
  const metrics = useOwnMetricsPage(inside)
  const archive = useArchive(processor, inside, options)
  const node = useNode(processor, inside, options)
  request(processor, chain, options.backfilled)
  return {
    processor,
    /** The chain's node; undefined: history only. */
    node,
    findCalls: createTraceLookup({
      archive: chain.hasTraces ? archive : undefined,
      archiveHeight: () => options.progress.archiveBlock,
      node,
      tokens: new Set(chain.tokens.map(({ address }) => address)),
      isRefusal: isAnswer,
      onRefusal: (txHash, error) =>
        log.warn({ txHash }, `no trace, selector inferred: ${hideAddresses(error.message)}`),
    }),
    metrics,
    description: describe(chain),
  }
}

/** A self-hosted archive when one is set, else the Portal, else none. */
function useArchive(processor: Processor, inside: SdkInside, options: SourceOptions): SdkArchive | undefined {
  const { chain, progress, log, final, portalKey } = options
  const url = chain.gateway ?? chain.portal
  if (!url) return undefined
  processor.setGateway(url)
  let client: SdkArchive
  if (chain.gateway) {
    client = inside.getArchiveDataSource().client
  } else {
    const service = new PortalService({ url, dataset: chain.dataset, key: portalKey })
    client = new Portal({ service, log, final, foreignChain: (block, found) => deepReorg(chain, block, found) })
  }
  const getHeight = client.getHeight.bind(client)
  client.getHeight = async () => {
    const height = await getHeight()
    progress.seeArchive(height)
    return height
  }
  const source = new EvmArchive(client as never) as unknown as SdkSource & { readonly client: SdkArchive }
  inside.getArchiveDataSource = memoize(() => guardFinality(source, { chain, final, log }))
  return client
}

function useNode(processor: Processor, inside: SdkInside, options: SourceOptions): SdkNode | undefined {
  const { chain, progress, final, log } = options
  if (!chain.rpc) {
    processor.setRpcDataIngestionSettings({ disabled: true })
    return undefined
  }
  processor.setRpcEndpoint({ url: chain.rpc, requestTimeout: rpcTimeoutMs })
  processor.setFinalityConfirmation(chain.finalityConfirmation)
  processor.setRpcDataIngestionSettings({ headPollInterval: headPollMs })
  const node = addPatience(inside.getChainRpcClient(), log)
  const getHotDataSource = inside.getHotDataSource.bind(inside)
  inside.getHotDataSource = memoize(() => {
    const source = getHotDataSource()
    if (typeof source.polling !== 'function') throw new Error('the SDK of this version has no polling of its own')
    checkBlocks(source.rpc)
    return guardFinality(followHead(source, node, progress, log), { chain, final, log })
  })
  const call = node.call.bind(node)
  node.call = async (method, ...rest) => {
    const answer = await call(method, ...rest)
    // The SDK keeps the head to itself; it asks for it here.
    if (method === 'eth_blockNumber') progress.seeHead(Number(answer))
    return answer as never
  }
  return node
}

/** The SDK's numbers, to be served on one page with ours: `port` is where, for the SDK's log. */
function useOwnMetricsPage(inside: SdkInside) {
  const metrics = inside.getPrometheusServer()
  const page = { registry: metrics.registry, port: 0 }
  metrics.serve = async () => page
  const addChainRpcMetrics = metrics.addChainRpcMetrics.bind(metrics)
  // Metrics are public to whoever scrapes them; an address may hold a key.
  metrics.addChainRpcMetrics = (collect) =>
    addChainRpcMetrics(() => {
      const now = collect()
      return { ...now, url: hostOf(now.url) }
    })
  return page
}

function describe({ gateway, portal, dataset, rpc }: ChainSettings): string {
  const tip = rpc ? `the tip from RPC ${hostOf(rpc)}` : 'no tip: no RPC endpoint is set'
  if (gateway) return `history from the archive ${hostOf(gateway)}, ${tip}`
  if (portal) return `history from the Portal ${hostOf(portal)}, dataset ${dataset}, ${tip}`
  return `history and ${tip}`
}

function memoize<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
