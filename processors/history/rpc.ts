import { SourceFailure } from '../../hosts/retries.ts'
import { Refusal } from '../../ops/cli.ts'
import type { RpcClient } from '../rpc-client.ts'
import type { Answer, ArchiveBlock, History, Wanted } from './history.ts'
import { clientAt } from './node.ts'
import { readWanted, type WantedBlock } from './rpc-blocks.ts'
import { type FoundLogs, LogSearch } from './rpc-logs.ts'

interface RpcHistoryOptions {
  readonly url: string
  readonly chainId: number
  /** Blocks below the head that may still be replaced. */
  readonly finalityConfirmation: number
  /** Most calls in one request. */
  readonly batch: number
}

/** Transactions that are read together, so that with their blocks they fit a batch; and groups that are read ahead. */
const groupTransactions = 80
const groupsAhead = 8

/**
 * The settlement history at a node: filtered logs first, then only the transactions and blocks that have them. The
 * blocks are handed over as an archive would send them, with the first and the last of every range that was searched.
 */
export class RpcHistory implements History {
  readonly name: string
  /** None: a node is asked for traces through `findCallsIn`. */
  readonly traces = undefined
  readonly #client: RpcClient
  readonly #search: LogSearch

  constructor(
    private readonly options: RpcHistoryOptions,
    private readonly wanted: Wanted,
  ) {
    this.#client = clientAt(options.url, options.batch)
    this.name = this.#client.name
    if (!options.url.startsWith('http')) throw new Refusal(`${this.name}: history can only be read over http or https`)
    this.#search = new LogSearch(this.#client, wanted)
  }

  async finalHeight(): Promise<number> {
    const { chainId, finalityConfirmation } = this.options
    const [id, head] = await this.#client.batchCall([
      { method: 'eth_chainId', params: [] },
      { method: 'eth_blockNumber', params: [] },
    ])
    if (Number(id) !== chainId) throw new Refusal(`it answers chain id ${Number(id)}, expected ${chainId}`)
    if (!Number.isSafeInteger(Number(head))) throw new SourceFailure('it does not report its height')
    return Math.max(Number(head) - finalityConfirmation, 0)
  }

  async open(fromBlock: number, toBlock: number): Promise<Answer> {
    let isClosed = false
    const groups = this.#groups(fromBlock, toBlock, () => isClosed)
    return {
      pieces: readAhead(groups, (group) => this.#read(group)),
      isContiguous: true,
      close() {
        isClosed = true
      },
    }
  }

  parse(text: Buffer, at: number): { blocks: readonly ArchiveBlock[]; end: number } {
    const blocks = text.toString('utf8', at).trimEnd().split('\n')
    return { blocks: blocks.map((line) => JSON.parse(line)), end: text.length }
  }

  async *#groups(fromBlock: number, toBlock: number, isClosed: () => boolean): AsyncGenerator<WantedBlock[]> {
    for await (const found of this.#search.ranges(fromBlock, toBlock, isClosed)) {
      let group: WantedBlock[] = []
      let transactions = 0
      for (const block of this.#worthReading(found)) {
        if (group.length > 0 && transactions + block.logs.size > groupTransactions) {
          yield group
          group = []
          transactions = 0
        }
        group.push(block)
        transactions += block.logs.size
      }
      yield group
    }
  }

  /** The blocks of a range to read, ascending: those with logs, and the first and the last one. */
  #worthReading({ logs, ends }: FoundLogs): WantedBlock[] {
    const wanted = new Map<number, WantedBlock>()
    for (const header of ends) wanted.set(Number(header.number), { hash: header.hash, header, logs: new Map() })
    for (const log of logs) {
      const number = Number(log.blockNumber)
      const block = wanted.get(number) ?? { hash: log.blockHash, header: undefined, logs: new Map() }
      wanted.set(number, block)
      if (block.hash !== log.blockHash || log.removed) {
        throw new SourceFailure(`${this.name} knows two blocks ${number}: ${block.hash} and ${log.blockHash}`)
      }
      const ofTransaction = block.logs.get(log.transactionHash) ?? []
      ofTransaction.push(Number(log.logIndex))
      block.logs.set(log.transactionHash, ofTransaction)
    }
    return [...wanted].sort(([a], [b]) => a - b).map(([, block]) => block)
  }

  async #read(group: readonly WantedBlock[]): Promise<Buffer> {
    const blocks = await readWanted(this.#client, group, this.wanted)
    return Buffer.from(blocks.map((block) => `${JSON.stringify(block)}\n`).join(''))
  }
}

/** Reads items in their order, `groupsAhead` of them ahead; empty results are left out. */
async function* readAhead<T>(items: AsyncGenerator<T>, read: (item: T) => Promise<Buffer>): AsyncGenerator<Buffer> {
  const waiting: Promise<Buffer | undefined>[] = []
  for (;;) {
    while (waiting.length < groupsAhead) {
      const reading = items.next().then(({ done, value }) => (done ? undefined : read(value)))
      reading.catch(() => {}) // awaited below
      waiting.push(reading)
    }
    const piece = await waiting.shift()
    if (!piece) return
    if (piece.length > 0) yield piece
  }
}
