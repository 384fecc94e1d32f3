import { settlementSelectors } from '../../abi/selectors.ts'
import { type BlockRange, lengthOf } from '../../db/block-range.ts'
import type { Tokens } from './scale.ts'

/** A call as the archives list it: its place in the tree instead of its children. */
export interface FlatTrace {
  readonly transactionIndex: number
  readonly traceAddress: readonly number[]
  readonly type: string
  readonly error?: string | null
  readonly action?: { readonly callType?: string; readonly to?: string; readonly input?: string }
}

/** An archive that answers a query of the archive protocol with blocks, the last one that it searched included. */
export interface TraceArchive {
  query(query: object): Promise<{ header: { number: number }; traces?: FlatTrace[] }[]>
}

/**
 * Longest way from one block to the next that is asked for in the same request, and most blocks of a request. The traces
 * between come with it, which are those of all settlements: a request costs about as much as a hundred of them.
 */
const maxGapBlocks = 64
const maxRangeBlocks = 4_096
/** Requests in flight. */
const maxRequests = 8

/** The traces of some final blocks, by block: few requests, each for blocks that are near each other. */
export async function tracesIn(
  archive: TraceArchive,
  tokens: Pick<Tokens, 'has' | 'keys'>,
  blocks: readonly number[],
): Promise<Map<number, FlatTrace[]>> {
  const found = new Map<number, FlatTrace[]>()
  const wanted = new Set(blocks)
  const ranges = rangesOf([...wanted].sort((a, b) => a - b))
  const readOn = async () => {
    for (let range = ranges.shift(); range; range = ranges.shift()) {
      for (let next = range.fromBlock; next <= range.toBlock; ) {
        const answer = await archive.query(traceQuery({ ...range, fromBlock: next }, tokens))
        for (const { header, traces = [] } of answer) if (wanted.has(header.number)) found.set(header.number, traces)
        const last = answer.at(-1)?.header.number ?? -1
        if (last < next) throw new Error(`the archive answers a query for traces from block ${next} on with none`)
        next = last + 1
      }
    }
  }
  await Promise.all(Array.from({ length: maxRequests }, readOn))
  return found
}

function rangesOf(blocks: readonly number[]): BlockRange[] {
  const ranges: BlockRange[] = []
  for (const toBlock of blocks) {
    const last = ranges.at(-1)
    const longer = last && { fromBlock: last.fromBlock, toBlock }
    if (longer && toBlock - last.toBlock <= maxGapBlocks && lengthOf(longer) <= maxRangeBlocks) {
      ranges.splice(-1, 1, longer)
    } else ranges.push({ fromBlock: toBlock, toBlock })
  }
  return ranges
}

/** Only calls that can have executed an authorization: a block's calls to a dollar token can be thousands. */
function traceQuery(range: BlockRange, tokens: Pick<Tokens, 'has' | 'keys'>) {
  return {
    ...range,
    fields: { trace: { error: true, callCallType: true, callTo: true, callInput: true } },
    traces: [{ type: ['call'], callTo: [...tokens.keys()], callSighash: [...settlementSelectors], parents: true }],
  }
}
