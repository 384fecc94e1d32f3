import { events } from '../../abi/generated/dollar-token.ts'
import { SourceFailure } from '../../hosts/retries.ts'
import { topicOf } from '../mapping/block.ts'
import { type RpcClient, RpcError } from '../rpc-client.ts'
import type { Wanted } from './history.ts'

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
  /** Transaction hashes, by index. */
  readonly transactions: readonly string[]
}

/** Logs found in a range of blocks, and the headers of its first and last block. */
export interface FoundLogs {
  readonly logs: readonly RpcLog[]
  /** Headers of the first and the last block; only one when the range is a single block. */
  readonly ends: readonly RpcHeader[]
}

/** Blocks that are searched by one request, at first and (`mostBlocks`) at most. */
const firstBlocks = 500
const mostBlocks = 100_000
/** Logs that one request should find, about: they are held in memory. */
const wantedLogs = 1_000
/** Most by which the range of a request grows at a time: before the endpoint has refused one, and after. */
const boldly = 2
const carefully = 1.1

/**
 * Searches logs range by range. Endpoints limit the blocks of a request or the logs of an answer, each in its own way
 * and words, so a request that is refused or fails is followed by shorter ones, whatever the reason.
 */
export class LogSearch {
  #blocks = firstBlocks
  #step = boldly

  constructor(
    private readonly client: RpcClient,
    private readonly wanted: Wanted,
  ) {}

  /** Searches a range in parts, which are yielded ascending and without gaps. */
  async *ranges(fromBlock: number, toBlock: number, isClosed: () => boolean): AsyncGenerator<FoundLogs> {
    for (let next = fromBlock; next <= toBlock && !isClosed(); ) {
      const last = Math.min(next + this.#blocks - 1, toBlock)
      const found = await this.#find(next, last)
      if (!found) continue
      yield found
      next = last + 1
    }
  }

  /** Searches one range. Undefined: the endpoint refused, and the next range will be shorter. */
  async #find(fromBlock: number, toBlock: number): Promise<FoundLogs | undefined> {
    const blocks = toBlock - fromBlock + 1
    const ends = [...new Set([fromBlock, toBlock])]
    const range = { fromBlock: quantityOf(fromBlock), toBlock: quantityOf(toBlock) }
    const filters = filtersOf(this.wanted).map((filter) => ({ ...range, ...filter }))
    let results: unknown[]
    try {
      // Asked together, so that a node that does not have the last block yet is not believed to know its logs.
      results = await this.client.batchCall([
        ...filters.map((filter) => ({ method: 'eth_getLogs', params: [filter] })),
        ...ends.map((number) => ({ method: 'eth_getBlockByNumber', params: [quantityOf(number), false] })),
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
}

/** Addresses and topics of eth_getLogs, without the blocks. */
export interface RpcFilter {
  readonly address: readonly string[]
  /** By position; null: whatever it is. */
  readonly topics: readonly (readonly string[] | null)[]
}

/** Filters for eth_getLogs: one where that is enough, because tokens and contracts share none of the topics. */
export function filtersOf(wanted: Wanted): RpcFilter[] {
  const { tokens, recipients, payments } = wanted
  if (!recipients) {
    const { addresses, topic0 } = provingLogs(wanted)
    return [{ address: addresses, topics: [topic0] }]
  }
  const transfers = { address: tokens, topics: [[events.Transfer.topic], null, recipients.map(topicOf)] }
  return payments ? [transfers, { address: payments.address, topics: [payments.topic0] }] : [transfers]
}

/** Addresses and first topics of the logs that prove settlements and payments. */
export function provingLogs({ tokens, payments }: Wanted) {
  return {
    addresses: [...tokens, ...(payments?.address ?? [])],
    topic0: [events.AuthorizationUsed.topic, ...(payments?.topic0 ?? [])],
  }
}

/** A number as JSON-RPC writes it. */
export function quantityOf(number: number): string {
  return `0x${number.toString(16)}`
}
