import { fakeHash, farcasterEpoch, type Message } from './messages.ts'

/** What a hub reports: ids grow within a shard and hold the block number above the lowest 14 bits. */
export interface HubEvent {
  readonly type: string
  readonly id: number
  readonly blockNumber: number
  readonly shardIndex: number
  /** One body, under the name that belongs to the type. */
  readonly [body: string]: unknown
}

export type NewEvent =
  | { readonly type: 'HUB_EVENT_TYPE_MERGE_MESSAGE'; readonly mergeMessageBody: MergeMessageBody }
  | { readonly type: 'HUB_EVENT_TYPE_REVOKE_MESSAGE'; readonly revokeMessageBody: { message: Message } }
  | { readonly type: 'HUB_EVENT_TYPE_PRUNE_MESSAGE'; readonly pruneMessageBody: { message: Message } }
  | { readonly type: 'HUB_EVENT_TYPE_MERGE_ON_CHAIN_EVENT'; readonly mergeOnChainEventBody: { onChainEvent: unknown } }

interface MergeMessageBody {
  readonly message: Message
  readonly deletedMessages: readonly Message[]
}

const sequenceSize = 2 ** 14
const firstBlock = 9_000_000
/** Events kept per shard, and up to half as many more before the oldest go; a real hub keeps them three days. */
const keptEvents = 100_000

/** The events of one shard. Every change is a block: its confirmation, then its events. */
export class EventLog {
  private events: HubEvent[] = []
  height = firstBlock
  readonly shardIndex: number

  constructor(shardIndex: number) {
    this.shardIndex = shardIndex
  }

  append(unixMs: number, added: readonly NewEvent[]) {
    const blockNumber = ++this.height
    const place = { blockNumber, shardIndex: this.shardIndex }
    const blockConfirmedBody = {
      ...place,
      timestamp: Math.floor(unixMs / 1000) - farcasterEpoch,
      blockHash: fakeHash('block', this.shardIndex, blockNumber),
      totalEvents: added.length + 1,
    }
    const block = [{ type: 'HUB_EVENT_TYPE_BLOCK_CONFIRMED', blockConfirmedBody }, ...added]
    for (const [index, { type, ...body }] of block.entries()) {
      this.events.push({ type, id: blockNumber * sequenceSize + index, ...body, ...place })
    }
    if (this.events.length > keptEvents * 1.5) this.events = this.events.slice(-keptEvents)
  }

  /** Events with `from <= id < stop`, at most `limit`. */
  page({ from, stop, limit, reverse }: { from: number; stop: number; limit: number; reverse: boolean }): HubEvent[] {
    const start = this.indexFrom(from)
    const end = this.indexFrom(stop)
    if (reverse) return this.events.slice(Math.max(start, end - limit), end).reverse()
    return this.events.slice(start, Math.min(end, start + limit))
  }

  /** Index of the first event whose id is not below `id`, by binary search. */
  private indexFrom(id: number): number {
    let low = 0
    let high = this.events.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.events[middle]!.id < id) low = middle + 1
      else high = middle
    }
    return low
  }

  find(id: number): HubEvent | undefined {
    return this.events.find((event) => event.id === id)
  }

  /** Drops everything reported so far; the height stays. */
  forget() {
    this.events = []
  }
}
