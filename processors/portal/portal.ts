import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { Retries, retrying, SourceFailure, type SourceWatch } from '../../hosts/retries.ts'
import { Refusal } from '../../ops/cli.ts'
import type { BlockPlace } from '../continuity.ts'
import type { PortalClient } from './client.ts'
import type { ArchiveQuery } from './query.ts'
import { type PortalBlock, PortalSequence } from './sequence.ts'

interface PortalOptions {
  readonly client: PortalClient
  readonly log: Logger
  /** Newest block whose rows will not be undone: the first answer has to follow it. */
  readonly final: () => BlockPlace | undefined
  /** The error for an operator when the Portal's chain does not contain a block that was written. */
  readonly foreignChain: (block: BlockPlace, found: string | undefined) => Error
  /** Counts the Portal's failures; absent: they are not counted. */
  readonly watch?: SourceWatch
  /** Attempts in a row after which a failure is passed on; absent: it is waited out. */
  readonly attempts?: number
}

/** A batch is handed over once its lines, unpacked, reach this many bytes; two wait while one is written. */
const maxBatchBytes = 16 * 1024 * 1024
/** Age at which a batch is handed over: a long search of empty blocks is not lost with the process. */
const maxBatchMs = 5_000
/** Milliseconds between requests for blocks that the Portal does not have yet. */
const frontierPauseMs = 1_000

/**
 * The SQD Network's Portal behind the SDK's archive source. Final blocks only; nothing is lost and nothing comes twice
 * when an answer breaks off.
 *
 * Rejects with a Refusal when the data contradicts itself or what is indexed, and when the Portal refuses the query; what
 * passes is waited out.
 */
export class Portal {
  #sequence: PortalSequence | undefined

  constructor(private readonly options: PortalOptions) {}

  async getHeight(): Promise<number> {
    return retrying(this.#retries(), () => this.options.client.finalizedHead())
  }

  /** The next batch, never empty. It ends where an answer does, or at a bound; the next query continues the answer. */
  async query(query: ArchiveQuery): Promise<PortalBlock[]> {
    // A query for one block or for traces does not belong to the sequence of batches and must not disturb it.
    if (query.fromBlock === query.toBlock || query.traces) {
      const alone = this.#begin(query)
      return this.#readBatch(alone, query).finally(() => alone.close())
    }
    if (!this.#sequence?.continues(query)) {
      this.#sequence?.close()
      this.#sequence = this.#begin(query)
    }
    return this.#readBatch(this.#sequence, query)
  }

  #retries(): Retries {
    return new Retries(this.options.log, this.options)
  }

  #begin(query: ArchiveQuery): PortalSequence {
    const { client, final, foreignChain } = this.options
    const { fromBlock } = query
    const block = final()
    const last = block?.height === fromBlock - 1 ? block : undefined
    return new PortalSequence(client, query, fromBlock, last, foreignChain)
  }

  async #readBatch(sequence: PortalSequence, { fromBlock, toBlock }: ArchiveQuery): Promise<PortalBlock[]> {
    const { log } = this.options
    const retries = this.#retries()
    const blocks: PortalBlock[] = []
    const deadline = Date.now() + maxBatchMs
    let isWaiting = false
    const isWhole = () => blocks.length > 0 && blocks.at(-1)?.header.number === toBlock
    for (let bytes = 0; bytes < maxBatchBytes && !isWhole(); ) {
      try {
        const read = await sequence.read(blocks.length > 0 ? deadline - Date.now() : maxBatchMs)
        if (typeof read === 'object') {
          blocks.push(read.block)
          bytes += read.bytes
        } else if (blocks.length > 0) {
          break
        } else if (read === 'frontier') {
          if (!isWaiting) log.info(`the Portal does not have block ${fromBlock} yet: waiting for it`)
          isWaiting = true
          await delay(frontierPauseMs)
        } else if (read === 'end') {
          throw new SourceFailure(`an answer from block ${fromBlock} on has no block`)
        }
      } catch (error) {
        if (blocks.length === 0 || error instanceof Refusal) await retries.afterFailure(error as Error)
        else {
          log.warn(`the Portal's answer broke off after block ${blocks.at(-1)?.header.number}: ${messageOf(error)}`)
          break
        }
      }
    }
    return blocks
  }
}

function messageOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException
  return message || code || 'unknown'
}
