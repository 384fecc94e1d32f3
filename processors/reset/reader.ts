import type { Logger } from 'pino'
import type { ChainSettings } from '../../config/chains.file.ts'
import type { ChainBlock } from '../mapping/block.ts'
import { Progress } from '../progress.ts'
import type { SdkNode, SdkSource } from '../source/sdk.ts'
import { createSource } from '../source/source.ts'

/** The final part of a chain as its sources have it now. */
export interface FinalChain {
  /** The chain's node; undefined: there is none. */
  readonly node: SdkNode | undefined
  /** Newest final block there is. */
  height(): Promise<number>
  /** Hash of a block; undefined: there is no such block. */
  hashOf(height: number): Promise<string | undefined>
  /** Blocks with events of the registries, ascending. */
  blocks(from: number, to: number): AsyncIterable<readonly ChainBlock[]>
}

/** Opens the sources that the chain's processor would read. */
export function openFinalChain(chain: ChainSettings, portalKey: string | undefined, log: Logger): FinalChain {
  const { processor, node } = createSource({
    chain: { ...chain, tokens: [] },
    portalKey,
    log,
    progress: new Progress(),
    final: () => undefined,
    backfilled: [],
  })
  const sources: SdkSource[] = [
    ...(chain.gateway || chain.portal ? [processor.getArchiveDataSource()] : []),
    ...(node ? [processor.getHotDataSource()] : []),
  ]
  const heights = () => Promise.all(sources.map((source) => source.getFinalizedHeight()))
  return {
    node,
    height: async () => Math.max(...(await heights())),
    async hashOf(height) {
      const known = await heights()
      const source = sources.find((_, index) => height <= (known[index] as number))
      return (source ?? sources.at(-1))?.getBlockHash(height)
    },
    async *blocks(from, to) {
      const known = await heights()
      let next = from
      for (const [index, source] of sources.entries()) {
        const last = Math.min(to, known[index] as number)
        const requests = processor
          .getBatchRequests()
          .map(({ range, request }) => ({
            range: { from: Math.max(range.from, next), to: Math.min(range.to ?? last, last) },
            request,
          }))
          .filter(({ range }) => range.from <= range.to)
        if (requests.length > 0) {
          for await (const { blocks } of source.getFinalizedBlocks(requests, true)) yield blocks
        }
        next = Math.max(next, last + 1)
      }
      if (next <= to) throw new Error(`the sources of ${chain.name} end at block ${next - 1}; block ${to} was there`)
    },
  }
}
