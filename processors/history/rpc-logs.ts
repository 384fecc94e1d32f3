import { events } from '../../abi/generated/dollar-token.ts'
import { SourceFailure } from '../failures.ts'
import { topicOf } from '../mapping/block.ts'
import type { Wanted } from './history.ts'
import { type RpcClient, RpcError } from './rpc-client.ts'

export interface RpcLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly blockNumber: string
  readonly blockHash: string
  readonly transactionHash: string
  readonly transactionIndex: string
  readonly logIndex: string
  readonly removed?: boolean
}

export interface RpcHeader {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
  readonly timestamp: string
  /** Hashes. */
  readonly transactions: readonly string[]
}

/** A range of blocks with the logs that were looked for, and the headers of its ends. */
export interface FoundLogs {
  readonly logs: readonly RpcLog[]
  /** One when the range is one block. */
  readonly ends: readonly RpcHeader[]
}

/** Blocks of a question: at first, and at most. */
const firstBlocks = 500
const mostBlocks = 100_000
/** A question should find about so many logs: what it finds is held in memory. */
const wantedLogs = 1_000
/** Steps in which questions get longer: before and after the endpoint has refused one. */
const boldly = 2
const carefully = 1.1

/**
 * Looks for logs range by range. Endpoints limit the blocks of a question or the logs of an answer, each in its own
 * way and words, so a question that is refused or that fails is followed by shorter ones, whatever the reason.
 */
export class LogSearch {
  #blocks = firstBlocks
  #step = boldly

  constructor(
    private readonly client: RpcClient,
    private readonly wanted: Wanted,
  ) {}

  /** The ranges a longer one is made of, ascending and without gaps. */
  async *ranges(fromBlock: number, toBlock: number, isClosed: () => boolean): AsyncGenerator<FoundLogs> {
    for (let next = fromBlock; next <= toBlock && !isClosed(); ) {
      const last = Math.min(next + this.#blocks - 1, toBlock)
      const found = await this.#find(next, last)
      if (!found) continue
      yield found
      next = last + 1
    }
  }

  /** Undefined: it was too much; the next question is shorter. */
  async #find(fromBlock: number, toBlock: number): Promise<FoundLogs | undefined> {
    const blocks = toBlock - fromBlock + 1
    const ends = [...new Set([fromBlock, toBlock])]
    const filters = this.#filters({ fromBlock: hexOf(fromBlock), toBlock: hexOf(toBlock) })
    let results: unknown[]
    try {
      // Asked together, so that a node that does not have the last block yet is not believed to know its logs.
      results = await this.client.batch([
        ...filters.map((filter) => ({ method: 'eth_getLogs', params: [filter] })),
        ...ends.map((number) => ({ method: 'eth_getBlockByNumber', params: [hexOf(number), false] })),
      ])
    } catch (error) {
      this.#blocks = Math.max(1, Math.floor(blocks / 2))
      this.#step = carefully
      if (!(error instanceof RpcError)) throw error
      if (blocks > 1) return undefined
      throw new SourceFailure(`block ${fromBlock} alone is refused: ${error.message}`)
    }
    const lists = results.slice(0, filters.length) as (RpcLog[] | null)[]
    const headers = results.slice(filters.length) as (RpcHeader | null)[]
    if (!lists.every(Array.isArray)) throw new SourceFailure(`${this.client.name} answers eth_getLogs without a list`)
    const logs = (lists as RpcLog[][]).flat()
    const missing = ends.find((number, at) => Number(headers[at]?.number ?? -1) !== number)
    if (missing !== undefined) throw new SourceFailure(`${this.client.name} has no block ${missing}`)
    const stray = logs.find(({ blockNumber }) => !(Number(blockNumber) >= fromBlock && Number(blockNumber) <= toBlock))
    if (stray) {
      throw new SourceFailure(
        `${this.client.name} answers a log of block ${Number(stray.blockNumber)} for blocks ${fromBlock} to ${toBlock}`,
      )
    }
    if (blocks >= this.#blocks) this.#adapt(logs.length)
    return { logs, ends: headers as RpcHeader[] }
  }

  #adapt(found: number) {
    const factor = Math.min(wantedLogs / Math.max(found, 1), this.#step)
    this.#blocks = Math.min(Math.max(1, Math.ceil(this.#blocks * factor)), mostBlocks)
  }

  /** One question where that is enough: what the contracts and the tokens log does not get mixed up. */
  #filters(range: { readonly fromBlock: string; readonly toBlock: string }) {
    const { tokens, recipients, payments } = this.wanted
    if (!recipients) {
      const { addresses, topic0 } = provingLogs(this.wanted)
      return [{ ...range, address: addresses, topics: [topic0] }]
    }
    const transfers = { ...range, address: tokens, topics: [events.Transfer.topic, null, recipients.map(topicOf)] }
    return payments ? [transfers, { ...range, address: payments.address, topics: [payments.topic0] }] : [transfers]
  }
}

/** Who logs that something was paid, and how. */
export function provingLogs({ tokens, payments }: Wanted) {
  return {
    addresses: [...tokens, ...(payments?.address ?? [])],
    topic0: [events.AuthorizationUsed.topic, ...(payments?.topic0 ?? [])],
  }
}

function hexOf(number: number): string {
  return `0x${number.toString(16)}`
}
