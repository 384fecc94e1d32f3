import { setTimeout as delay } from 'node:timers/promises'
import type { BlockRange } from '../../db/block-range.ts'
import type { TraceNode } from '../mapping/traces.ts'
import { bloomOf, isWithin } from '../source/bloom.ts'
import { hideAddresses } from '../source/sdk-log.ts'
import { SourceFailure } from '../source-failures.ts'
import type { Wanted } from './history.ts'
import { filtersOf, hexOf, type RpcHeader, type RpcLog } from './rpc-logs.ts'

/** Blocks of a run that the node is asked about. */
const maxSamples = 16
/** Deadline for its answers, and the time for which it is not asked after it gave none; milliseconds. */
const maxWaitMs = 60_000
const restMs = 60_000

type Header = RpcHeader & { readonly logsBloom?: string }

/**
 * The chain's node, asked about blocks in which another source has nothing: a hole in an archive looks like blocks in
 * which nothing happened. It is asked for the headers of a sample, and for the logs of those whose bloom may hold what is
 * wanted. A node that does not answer stops nobody; the range is then not confirmed.
 */
export class Witness {
  readonly name = "the chain's node"
  /** Whether it has answered every question so far. */
  isWhole = true
  #restUntil = 0
  readonly #filters: { readonly filter: ReturnType<typeof filtersOf>[number]; readonly blooms: readonly Buffer[] }[]

  constructor(
    private readonly node: TraceNode,
    wanted: Wanted,
    private readonly warn: (text: string) => void,
  ) {
    this.#filters = filtersOf(wanted)
      .filter(({ address }) => address.length > 0)
      .map((filter) => ({ filter, blooms: bloomsOf(filter) }))
  }

  /** A block of a range in which the node has a wanted log; undefined: in a sample it has none, or it does not answer. */
  async contradiction(range: BlockRange): Promise<number | undefined> {
    if (Date.now() < this.#restUntil) {
      this.isWhole = false
      return undefined
    }
    const late = new AbortController()
    try {
      return await Promise.race([
        this.#find(range),
        delay(maxWaitMs, undefined, { signal: late.signal }).then(() => {
          throw new SourceFailure(`no answer within ${maxWaitMs} ms`)
        }),
      ])
    } catch (error) {
      this.isWhole = false
      this.#restUntil = Date.now() + restMs
      const { fromBlock, toBlock } = range
      const problem = hideAddresses((error as Error).message)
      this.warn(`${this.name} does not confirm that blocks ${fromBlock} to ${toBlock} are empty: ${problem}`)
      return undefined
    } finally {
      late.abort()
    }
  }

  async #find(range: BlockRange): Promise<number | undefined> {
    const asked = sampleOf(range)
    const headers = await Promise.all(
      asked.map((block) => this.node.call('eth_getBlockByNumber', [hexOf(block), false]) as Promise<Header | null>),
    )
    const missing = asked.find((block, at) => Number(headers[at]?.number ?? -1) !== block)
    if (missing !== undefined) throw new SourceFailure(`it has no block ${missing}`)
    const found = await Promise.all((headers as Header[]).map((header) => this.#hasLogs(header)))
    return asked.find((_, at) => found[at])
  }

  async #hasLogs({ hash: blockHash, logsBloom }: Header): Promise<boolean> {
    const bloom = logsBloom === undefined ? undefined : Buffer.from(logsBloom.slice(2), 'hex')
    const likely = this.#filters.filter(({ blooms }) => !bloom || blooms.some((one) => isWithin(one, bloom)))
    const lists = await Promise.all(
      likely.map(({ filter }) => this.node.call('eth_getLogs', [{ blockHash, ...filter }]) as Promise<RpcLog[] | null>),
    )
    return lists.some((list) => list !== null && list.length > 0)
  }
}

/** Blooms of the least that a log has which a filter matches: one of the addresses and one of the first topics. */
function bloomsOf({ address, topics: [first] }: ReturnType<typeof filtersOf>[number]): Buffer[] {
  return address.flatMap((contract) => (first ?? []).map((topic) => bloomOf([contract, topic])))
}

/** Blocks spread evenly over a range, its ends included; all of them when they are few. */
function sampleOf({ fromBlock, toBlock }: BlockRange): number[] {
  const blocks = toBlock - fromBlock + 1
  const count = Math.min(blocks, maxSamples)
  return Array.from({ length: count }, (_, at) => fromBlock + Math.round((at * (blocks - 1)) / Math.max(count - 1, 1)))
}
