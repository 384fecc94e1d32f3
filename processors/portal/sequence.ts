import { SourceFailure } from '../../hosts/retries.ts'
import { type BlockPlace, Continuity } from '../continuity.ts'
import { silenceMs } from '../source-request.ts'
import type { PortalClient, PreviousBlock } from './client.ts'
import { Lines } from './lines.ts'
import { type ArchiveQuery, toPortalQuery } from './query.ts'

/** A block as the Portal sends it; what else is in it follows from the query, and the SDK checks it. */
export interface PortalBlock {
  readonly header: {
    readonly number: number
    readonly hash: string
    readonly parentHash: string
    /** Seconds since 1970; absent: it was not asked for. */
    readonly timestamp?: number
  }
}

/** Most characters of a line that a message shows. */
const maxShown = 80

/**
 * The blocks of one query, in order, over as many requests as it takes: after an answer that ended or broke off the
 * next request goes on behind the last complete line.
 */
export class PortalSequence {
  #lines: Lines | undefined
  /** Whether the current answer has not given its first block yet. */
  #isFresh = false
  readonly #continuity: Continuity

  /** `next`: the block to begin with; `last`: the one before it, when it is known. */
  constructor(
    private readonly client: PortalClient,
    private readonly query: ArchiveQuery,
    next: number,
    last: BlockPlace | undefined,
    private readonly foreignChain: (block: BlockPlace, found: string | undefined) => Error,
  ) {
    this.#continuity = new Continuity(client.name, last, next)
  }

  /** Whether a query asks for the same data, from the block that this sequence has come to. */
  continues(query: ArchiveQuery): boolean {
    return query.fromBlock === this.#continuity.next && toPortalQuery(query, 0) === toPortalQuery(this.query, 0)
  }

  /**
   * The next block and the length of its line in bytes. 'later': none came within `waitMs`; 'end': the answer
   * ended; 'frontier': the Portal does not have the block yet.
   *
   * Rejects with a SourceFailure or a connection's error when it is worth another try, with a Refusal when a block
   * does not fit the one before it.
   */
  async read(waitMs: number): Promise<{ block: PortalBlock; bytes: number } | 'later' | 'end' | 'frontier'> {
    try {
      this.#lines ??= await this.#open()
      if (!this.#lines) return 'frontier'
      const line = await this.#lines.read(waitMs)
      if (line === 'end') this.close()
      if (line === 'end' || line === 'later') return line
      const block = parseBlock(line)
      this.#follow(block)
      return { block, bytes: line.length }
    } catch (error) {
      this.close()
      throw error
    }
  }

  close(): void {
    this.#lines?.close()
    this.#lines = undefined
  }

  async #open(): Promise<Lines | undefined> {
    const answer = await this.client.finalizedStream(
      toPortalQuery(this.query, this.#continuity.next, this.#continuity.last?.hash),
    )
    if (answer === 'frontier') return undefined
    if ('previousBlocks' in answer) throw await this.#explainFork(answer.previousBlocks)
    this.#isFresh = true
    return new Lines(answer.body)
  }

  /** Error for a 409: `foreignChain` when the last block is not on the chain, a SourceFailure when it is. */
  async #explainFork(previousBlocks: readonly PreviousBlock[]): Promise<Error> {
    const { client } = this
    const { last } = this.#continuity
    if (!last) return new SourceFailure(`${client.name} answers 409 to a query without a parent hash`)
    const listed = previousBlocks.find(({ number }) => number === last.height)
    const hash = listed?.hash ?? (await this.#hashAt(last.height))
    if (hash !== last.hash) return this.foreignChain(last, hash)
    return new SourceFailure(
      `${client.name} answers 409, but holds the very block ${last.height} it was asked to follow`,
    )
  }

  async #hashAt(height: number): Promise<string | undefined> {
    const { client, foreignChain } = this
    const range = { fromBlock: height, toBlock: height, includeAllBlocks: true }
    const alone = new PortalSequence(client, range, height, undefined, foreignChain)
    const found = await alone.read(silenceMs)
    alone.close()
    return typeof found === 'object' ? found.block.header.hash : undefined
  }

  #follow({ header: { number: height, hash, parentHash, timestamp = 0 } }: PortalBlock) {
    const block = { height, hash, parentHash, timestamp: timestamp * 1_000 }
    if (this.#isFresh) this.#continuity.begin(block, this.query.toBlock)
    else this.#continuity.follow(block, this.query.toBlock)
    this.#isFresh = false
  }
}

function parseBlock(line: Buffer): PortalBlock {
  const text = line.toString()
  let header: Partial<PortalBlock['header']> | undefined
  try {
    const block = JSON.parse(text)
    header = block?.header
    if (Number.isSafeInteger(header?.number) && header?.hash && header.parentHash) return block
  } catch {
    // not JSON: half a line, or something else than the Portal on the way
  }
  throw new SourceFailure(`a line is no block: ${text.slice(0, maxShown)}`)
}
