import type { ChainSettings } from '../../config/chains.file.ts'
import { Refusal } from '../../ops/cli.ts'

/** Where the history of a chain is read. */
export type SourceAddress =
  | { readonly kind: 'portal'; readonly url: string; readonly dataset: string; readonly key: string | undefined }
  | { readonly kind: 'archive'; readonly url: string }
  | {
      readonly kind: 'rpc'
      readonly url: string
      readonly chainId: number
      /** Blocks below the head that may still be replaced. */
      readonly finalityConfirmation: number
      /** Most JSON-RPC calls in one request. */
      readonly batch: number
    }

/** A self-hosted archive when one is set, else the Portal, else the chain's node. */
export function sourceOf(chain: ChainSettings, portalKey: string | undefined): SourceAddress {
  if (chain.gateway) return { kind: 'archive', url: chain.gateway }
  if (chain.portal) return { kind: 'portal', url: chain.portal, dataset: chain.dataset, key: portalKey }
  if (chain.rpc) return rpcSource(chain, chain.rpc)
  throw new Refusal(`${chain.name} has no source: set a Portal, an archive or an RPC endpoint`)
}

export function rpcSource({ id, finalityConfirmation, batch }: ChainSettings, url: string): SourceAddress {
  return { kind: 'rpc', url, chainId: id, finalityConfirmation, batch }
}
