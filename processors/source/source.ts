import type { ChainSettings } from '../../config/chains.file.ts'
import { hideAddresses, hostOf } from '../../hosts/host.ts'
import { isAnswer } from '../../hosts/retries.ts'
import { tokensOf } from '../mapping/scale.ts'
import { createTraceLookup } from '../mapping/traces.ts'
import { mayPass } from '../rpc-client.ts'
import { ChainProcessor, type SourceOptions } from './chain-processor.ts'

/** Where a chain's blocks come from: history from an archive when there is one, the tip from a node when there is one. */
export function createSource(options: SourceOptions) {
  const { chain, log } = options
  const processor = new ChainProcessor(options)
  const node = chain.rpc ? processor.getChainRpcClient() : undefined
  const hasArchive = Boolean(chain.gateway ?? chain.portal)
  return {
    processor,
    /** The chain's node; undefined: history only. */
    node,
    findCalls: createTraceLookup({
      archive: hasArchive && chain.hasTraces ? processor.historyArchive() : undefined,
      archiveHeight: () => options.progress.archiveBlock,
      node,
      tokens: tokensOf(chain),
      isRefusal: isAnswer,
      mayPass,
      onWait: (txHash, error) =>
        log.warn({ txHash }, `no trace yet: ${hideAddresses(error.message)}; it is asked for again`),
      onRefusal: (txHash, error) =>
        log.warn({ txHash }, `no trace, selector inferred: ${hideAddresses(error.message)}`),
    }),
    metrics: processor.getPrometheusServer(),
    description: describe(chain),
  }
}

function describe({ gateway, portal, dataset, rpc }: ChainSettings): string {
  const tip = rpc ? `the tip from RPC ${hostOf(rpc)}` : 'no tip: no RPC endpoint is set'
  if (gateway) return `history from the archive ${hostOf(gateway)}, ${tip}`
  if (portal) return `history from the Portal ${hostOf(portal)}, dataset ${dataset}, ${tip}`
  return `history and ${tip}`
}
