import type { ChainName } from '../../chains.config.ts'
import type { ChainSettings } from '../../chains.file.ts'
import { PortalService } from '../portal-service.ts'
import { Refusal } from '../refusal.ts'
import type { FindCalls } from '../settlements.ts'
import { createTraceLookup, type TraceNode } from '../traces.ts'
import { ArchiveHistory } from './archive-history.ts'
import type { History, Wanted } from './history.ts'
import type { SourceAddress } from './job.ts'
import { PortalHistory } from './portal-history.ts'

/** A self-hosted archive when one is set, else the Portal. Throws when the chain has neither. */
export function sourceOf(chain: ChainSettings, portalKey: string | undefined): SourceAddress {
  if (chain.gateway) return { kind: 'archive', url: chain.gateway }
  if (chain.portal) return { kind: 'portal', url: chain.portal, dataset: chain.dataset, key: portalKey }
  throw new Refusal(`${chain.name} has neither a Portal nor an archive: a backfill reads no RPC endpoint`)
}

export function openHistory(source: SourceAddress, wanted: Wanted): History {
  if (source.kind === 'archive') return new ArchiveHistory(source.url, wanted)
  return new PortalHistory(new PortalService(source), wanted)
}

export interface CallSources {
  readonly chain: ChainName
  readonly tokens: readonly string[]
  readonly hasTraces: boolean
  readonly rpc: string | null
  readonly finalHeight: number
}

/** Looks calls up as the chain's processor does: in the archive when it holds traces, else at the node. */
export function findCallsIn(history: History, sources: CallSources, warn: (text: string) => void): FindCalls {
  const { hasTraces, rpc, finalHeight, tokens } = sources
  return createTraceLookup({
    archive: hasTraces ? history.traces : undefined,
    archiveHeight: () => finalHeight,
    node: rpc ? lazyNode(rpc) : undefined,
    tokens: new Set(tokens),
    isRefusal: (error) => ['RpcError', 'HttpError'].includes((error as Error).name),
    onRefusal: (txHash, error) => warn(`no trace of ${txHash}, selector inferred: ${error.message}`),
  })
}

/** The SDK's client takes half a second to load, and most histories never need it. */
function lazyNode(url: string): TraceNode {
  let opened: Promise<TraceNode> | undefined
  const open = async () => {
    const { openSdk } = await import('../sdk.ts')
    const { processor, inside } = openSdk()
    processor.setRpcEndpoint(url)
    return inside.getChainRpcClient()
  }
  return {
    async call(method, params) {
      opened ??= open()
      return (await opened).call(method, params)
    },
  }
}
