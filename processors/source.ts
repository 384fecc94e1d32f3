import type { EvmBatchProcessor } from '@subsquid/evm-processor'
import type { Logger } from 'pino'
import type { ChainSettings } from '../chains.file.ts'
import type { Progress } from './progress.ts'
import { type FinalBlock, guardFinality } from './reorg.ts'
import { type Fields, fields, request } from './request.ts'
import { isAnswer, openSdk, type SdkInside, type SdkNode } from './sdk.ts'
import { hostOf, toSdkLog } from './sdk-log.ts'
import { createTraceLookup } from './traces.ts'

/** Milliseconds between questions for the chain's head: less than half a block on the fastest chain that is asked. */
const headPollMs = 1_000
const rpcTimeoutMs = 30_000

export interface SourceOptions {
  readonly chain: ChainSettings
  readonly log: Logger
  readonly progress: Progress
  readonly portalKey: string | undefined
  /** Newest block whose rows will not be undone. */
  readonly final: () => FinalBlock | undefined
}

/** Where a chain's blocks come from: history from an archive when there is one, the tip from a node when there is one. */
export function createSource({ chain, log, progress, final }: SourceOptions) {
  const sdk = openSdk()
  const { inside } = sdk
  inside.getLogger = memoize(() => toSdkLog(log))
  const processor: EvmBatchProcessor<Fields> = sdk.processor.setFields(fields)
  const node = chain.rpc ? useNode(processor, inside, chain, chain.rpc, progress, final) : undefined
  if (!node) processor.setRpcDataIngestionSettings({ disabled: true })
  hideAddresses(inside)
  request(processor, chain)
  const tokens = new Set(chain.tokens.map(({ address }) => address))
  return {
    processor,
    /** The chain's node; undefined: history only. */
    node,
    findCalls: createTraceLookup({
      node,
      tokens,
      isRefusal: isAnswer,
      onRefusal: (txHash, error) => log.warn({ txHash }, `no trace, selector inferred: ${error.message}`),
    }),
    metrics: inside.getPrometheusServer().registry,
    description: describe(chain),
  }
}

function describe({ rpc }: ChainSettings): string {
  return rpc ? `history and tip from RPC ${hostOf(rpc)}` : ''
}

function useNode(
  processor: EvmBatchProcessor<Fields>,
  inside: SdkInside,
  chain: ChainSettings,
  url: string,
  progress: Progress,
  final: () => FinalBlock | undefined,
): SdkNode {
  processor.setRpcEndpoint({ url, requestTimeout: rpcTimeoutMs })
  processor.setFinalityConfirmation(chain.finalityConfirmation)
  processor.setRpcDataIngestionSettings({ headPollInterval: headPollMs })
  const getHotDataSource = inside.getHotDataSource.bind(inside)
  inside.getHotDataSource = memoize(() => guardFinality(getHotDataSource(), chain, final))
  const node = inside.getChainRpcClient()
  const call = node.call.bind(node)
  node.call = async (method, ...rest) => {
    const answer = await call(method, ...rest)
    // The SDK keeps the head to itself; it asks for it here.
    if (method === 'eth_blockNumber') progress.headBlock = Number(answer)
    return answer as never
  }
  return node
}

/** Metrics are public to whoever scrapes them; an address may hold a key. */
function hideAddresses(inside: SdkInside) {
  const metrics = inside.getPrometheusServer()
  const addChainRpcMetrics = metrics.addChainRpcMetrics.bind(metrics)
  metrics.addChainRpcMetrics = (collect) =>
    addChainRpcMetrics(() => {
      const now = collect()
      return { ...now, url: hostOf(now.url) }
    })
}

function memoize<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
