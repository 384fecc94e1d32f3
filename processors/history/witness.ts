import { setTimeout as delay } from 'node:timers/promises'
import { type BlockRange, lengthOf } from '../../db/block-range.ts'
import { hideAddresses } from '../../hosts/host.ts'
import { isAnswer, SourceFailure } from '../../hosts/retries.ts'
import type { ChainLog } from '../mapping/block.ts'
import type { TraceNode } from '../mapping/traces.ts'
import { bloomOf, isWithin } from '../source/bloom.ts'
import { quantityOf, type RpcFilter, type RpcHeader, type RpcLog } from './rpc-logs.ts'

/** Blocks of a run that the node is asked about. */
const maxSamples = 16
/** Blocks whose logs the node is asked for in one go, and logs of the source among them after which it is fewer. */
const maxWindowBlocks = 500
const maxWindowLogs = 200
/** Deadline for its answers, and the time for which it is not asked after it gave none; milliseconds. */
const maxWaitMs = 60_000
const restMs = 60_000

type Header = RpcHeader & { readonly logsBloom?: string }

/** A block as another source has it. */
interface ToldBlock {
  readonly number: number
  readonly hash: string
  readonly logs: readonly Pick<ChainLog, 'address' | 'topics' | 'data'>[]
}

interface WitnessOptions {
  /** What is wanted of each block. */
  readonly filters: readonly RpcFilter[]
  /** Whether the chain's logs blooms are right. */
  readonly bloom: boolean
  readonly warn: (text: string) => void
}

/**
 * The chain's node, asked about blocks that another source has told: a hole in an archive looks like blocks in which
 * nothing happened. Where the source has nothing, it is asked for the headers of a sample and for the logs of those whose
 * bloom may hold what is wanted; where it has something, for all logs of some blocks. A node that does not answer stops
 * nobody; the range is then not confirmed.
 */
export class Witness {
  readonly name = "the chain's node"
  /** Whether it has answered every question so far. */
  isWhole = true
  #restUntil = 0
  #isAsked = false
  #windowBlocks = maxWindowBlocks
  readonly #filters: readonly { readonly filter: RpcFilter; readonly blooms: readonly Buffer[] }[]

  constructor(
    private readonly node: TraceNode,
    private readonly options: WitnessOptions,
  ) {
    this.#filters = options.filters
      .filter(({ address }) => address.length > 0)
      .map((filter) => ({ filter, blooms: bloomsOf(filter) }))
  }

  /**
   * What the node has in a run of blocks in which a source has nothing, as a sentence; undefined: in a sample it has
   * nothing either, or it does not answer.
   */
  async contradiction(source: string, run: BlockRange): Promise<string | undefined> {
    const { fromBlock, toBlock } = run
    const block = await this.#ask(`that blocks ${fromBlock} to ${toBlock} are empty`, () => this.#findIn(run))
    if (block === undefined) return undefined
    return (
      `${source} has nothing in blocks ${fromBlock} to ${toBlock}, but ${this.name} has in block ${block}: ` +
      'one of them is wrong, and nothing of these blocks is kept'
    )
  }

  /**
   * What the node has otherwise in the first blocks in which a source has something, as a sentence; undefined: nothing,
   * or it does not answer. `blocks`: ascending; blocks up to `toBlock` that are not among them have nothing.
   */
  async difference(source: string, blocks: readonly ToldBlock[], toBlock: number): Promise<string | undefined> {
    const [first] = blocks
    if (!first) return undefined
    const block = await this.#ask(`the logs of block ${first.number} and those behind it`, () =>
      this.#compare(first.number, blocks, toBlock),
    )
    if (block === undefined) return undefined
    return (
      `${source} has other logs in block ${block} than ${this.name}: one of them is wrong, and nothing of these blocks ` +
      'is kept'
    )
  }

  /** Asks a question, one at a time. Undefined: the node gives no answer within the deadline, or gave none lately. */
  async #ask(what: string, question: () => Promise<number | undefined>): Promise<number | undefined> {
    if (Date.now() < this.#restUntil || this.#isAsked) {
      this.isWhole = false
      return undefined
    }
    const late = new AbortController()
    this.#isAsked = true
    const answer = question().finally(() => {
      this.#isAsked = false
    })
    try {
      return await Promise.race([
        answer,
        delay(maxWaitMs, undefined, { signal: late.signal }).then(() => {
          throw new SourceFailure(`no answer within ${maxWaitMs} ms`)
        }),
      ])
    } catch (error) {
      answer.catch(() => {}) // of an answer that is not waited for any more
      this.isWhole = false
      this.#restUntil = Date.now() + restMs
      this.options.warn(`${this.name} does not confirm ${what}: ${hideAddresses((error as Error).message)}`)
      return undefined
    } finally {
      late.abort()
    }
  }

  async #findIn(run: BlockRange): Promise<number | undefined> {
    const asked = sampleOf(run)
    const headers = await Promise.all(asked.map((block) => this.#header(block)))
    const found = await Promise.all(headers.map((header) => this.#hasLogs(header)))
    return asked.find((_, at) => found[at])
  }

  async #header(block: number): Promise<Header> {
    const header = (await this.node.call('eth_getBlockByNumber', [quantityOf(block), false])) as Header | null
    if (Number(header?.number ?? -1) !== block) throw new SourceFailure(`it has no block ${block}`)
    return header as Header
  }

  async #hasLogs(header: Header): Promise<boolean> {
    const likely = this.#filters.filter(({ blooms }) => blooms.some((one) => this.#mayHold(header, one)))
    const lists = await Promise.all(likely.map(({ filter }) => this.#logs({ blockHash: header.hash, ...filter })))
    return lists.some((list) => list.length > 0)
  }

  /** A block in which the node has other logs than were told. */
  async #compare(fromBlock: number, blocks: readonly ToldBlock[], lastBlock: number): Promise<number | undefined> {
    const toBlock = Math.min(this.#endOfWindow(blocks), lastBlock)
    const range = { fromBlock: quantityOf(fromBlock), toBlock: quantityOf(toBlock) }
    let lists: RpcLog[][]
    try {
      lists = await Promise.all(this.#filters.map(({ filter }) => this.#logs({ ...range, ...filter })))
    } catch (error) {
      if (!isAnswer(error) || toBlock === fromBlock) throw error
      // Too many blocks or logs for this node: from now on it is asked for fewer.
      this.#windowBlocks = Math.max(1, Math.floor((toBlock - fromBlock + 1) / 2))
      return this.#compare(fromBlock, blocks, lastBlock)
    }
    const within = blocks.filter(({ number }) => number <= toBlock)
    const told = new Set(within.flatMap(({ hash, logs }) => logs.map((log) => keyOf(hash, log))))
    const known = new Set<string>()
    for (const log of lists.flat()) {
      const key = keyOf(log.blockHash, log)
      if (!told.has(key)) return Number(log.blockNumber)
      known.add(key)
    }
    return this.#invented(within, known)
  }

  /** A block with a wanted log that the node does not know of and that its bloom of this block denies. */
  async #invented(blocks: readonly ToldBlock[], known: ReadonlySet<string>): Promise<number | undefined> {
    for (const { number, hash, logs } of blocks) {
      const unknown = logs.find((log) => !known.has(keyOf(hash, log)) && this.#isWanted(log))
      if (!unknown) continue
      const header = await this.#header(number)
      const isDenied = !this.#mayHold(header, bloomOf([unknown.address, ...unknown.topics]))
      return header.hash !== hash || isDenied ? number : undefined
    }
    return undefined
  }

  #endOfWindow(blocks: readonly ToldBlock[]): number {
    let logs = 0
    const end = (blocks[0]?.number ?? 0) + this.#windowBlocks - 1
    const full = blocks.find((block) => {
      logs += block.logs.length
      return logs > maxWindowLogs
    })
    return Math.min(full?.number ?? end, end)
  }

  #isWanted({ address, topics }: ToldBlock['logs'][number]): boolean {
    return this.#filters.some(
      ({ filter }) =>
        filter.address.includes(address) && filter.topics.every((any, at) => any?.includes(topics[at] ?? '') ?? true),
    )
  }

  #mayHold({ logsBloom }: Header, one: Buffer): boolean {
    return !this.options.bloom || logsBloom === undefined || isWithin(one, Buffer.from(logsBloom.slice(2), 'hex'))
  }

  async #logs(filter: object): Promise<RpcLog[]> {
    const logs = (await this.node.call('eth_getLogs', [filter])) as RpcLog[] | null
    return (logs ?? []).filter(({ removed }) => !removed)
  }
}

/** Blooms of the least that a log has which a filter matches: one of the addresses and one of the first topics. */
function bloomsOf({ address, topics: [first] }: RpcFilter): Buffer[] {
  return address.flatMap((contract) => (first ?? []).map((topic) => bloomOf([contract, topic])))
}

function keyOf(blockHash: string, { address, topics, data }: ToldBlock['logs'][number] | RpcLog): string {
  return [blockHash, address, ...topics, data].join().toLowerCase()
}

/** Blocks spread evenly over a range, its ends included; all of them when they are few. */
function sampleOf(range: BlockRange): number[] {
  const blocks = lengthOf(range)
  const count = Math.min(blocks, maxSamples)
  return Array.from(
    { length: count },
    (_, at) => range.fromBlock + Math.round((at * (blocks - 1)) / Math.max(count - 1, 1)),
  )
}
