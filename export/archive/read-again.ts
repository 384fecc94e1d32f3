import type { ChainSettings } from '../../config/chains.file.ts'
import { copyOfSource } from '../../processors/backfill/verify.ts'
import { wantedOf } from '../../processors/history/history.ts'
import { sourceOf } from '../../processors/history/source-address.ts'
import { openHistory } from '../../processors/history/sources.ts'
import type { Archive } from './archive.ts'

/** Reads settlements from the chain's archive, Portal or node again; `warn` is told of what it waits for. */
export function readerOf(
  chain: ChainSettings,
  portalKey: string | undefined,
  warn: (text: string) => void,
): Archive['readAgain'] {
  // Nothing was paid before the first token was there.
  const begin = Math.min(...chain.tokens.map((token) => token.fromBlock))
  return ({ fromBlock, toBlock }) => {
    const blocks = { firstBlock: Math.min(Math.max(fromBlock, begin), toBlock), lastBlock: toBlock }
    const history = openHistory(sourceOf(chain, portalKey), wantedOf(chain))
    return copyOfSource(history, chain, blocks, warn)
  }
}
