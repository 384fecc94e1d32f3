import { createHash } from 'node:crypto'
import type { SdkNodeBlock, SdkNodeLog } from './sdk.ts'

/** Ways to read the logs of a block, in the order in which they are tried. */
export const ways = ['eth_getBlockReceipts', 'eth_getLogs', 'eth_getTransactionReceipt'] as const
export type Way = (typeof ways)[number]

/**
 * How often the logs of one block may be wrong before they are read another way: some nodes leave out the receipts of a
 * chain's own transactions for ever.
 */
const maxMisfits = 5
/** Most blocks whose wrong logs are remembered. */
const maxRemembered = 1_000

interface Misfits {
  readonly times: Map<Way, number>
  /** Digests of logs with which nothing was wrong but that the logs bloom tells of more, by the way they were read. */
  readonly whole: Map<Way, string>
}

/** Which ways gave wrong logs of which blocks. */
export class LogMisfits {
  #byBlock = new Map<string, Misfits>()

  /** Counts that the logs were wrong. */
  note(block: SdkNodeBlock, way: Way): void {
    const { times } = this.#of(block)
    times.set(way, (times.get(way) ?? 0) + 1)
  }

  /** Whether the logs were wrong too often to be read this way again. */
  isHopeless({ hash }: SdkNodeBlock, way: Way): boolean {
    return (this.#byBlock.get(hash)?.times.get(way) ?? 0) >= maxMisfits
  }

  /** Notes logs that are whole but for the logs bloom. Returns whether another way has given the very same ones. */
  agree(block: SdkNodeBlock, way: Way, logs: readonly SdkNodeLog[]): boolean {
    const { whole } = this.#of(block)
    const digest = digestOf(logs)
    whole.set(way, digest)
    return [...whole].some(([other, same]) => other !== way && same === digest)
  }

  /** Forgets a block, so that every way is tried again. */
  forget({ hash }: SdkNodeBlock): void {
    this.#byBlock.delete(hash)
  }

  #of({ hash }: SdkNodeBlock): Misfits {
    const known = this.#byBlock.get(hash)
    if (known) return known
    if (this.#byBlock.size >= maxRemembered) this.#byBlock.clear()
    const misfits: Misfits = { times: new Map(), whole: new Map() }
    this.#byBlock.set(hash, misfits)
    return misfits
  }
}

/** Digest of logs in the order of their numbers. */
function digestOf(logs: readonly SdkNodeLog[]): string {
  const hash = createHash('sha256')
  for (const { logIndex, transactionHash, address, topics, data } of logs.toSorted(byNumber)) {
    hash.update(JSON.stringify([Number(logIndex), transactionHash, address.toLowerCase(), topics, data]))
  }
  return hash.digest('base64')
}

function byNumber(a: SdkNodeLog, b: SdkNodeLog): number {
  return Number(a.logIndex) - Number(b.logIndex)
}
