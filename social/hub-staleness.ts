import { hour, second } from '../ops/time.ts'
import { firstIdBehind } from './events.ts'
import type { Network } from './social-index.ts'

/** Totals of the network, as far as a hub reports them. */
export type Totals = { readonly [Total in 'accounts' | 'messages']: number | null }

/** What is known of the network: its totals, and the id of the last event that was read of each shard. */
export interface Known extends Totals {
  readonly positions: ReadonlyMap<number, number>
}

/** Oldest that a hub's newest block may be, in seconds; with an older one the hub is behind. */
export const mostDelaySeconds = 600

/** Milliseconds between the two empty answers that it takes to empty a set: a hub without data answers so too. */
export const emptyAfterMs = hour

/** Up to when an answer settles what is stored: by so much it may be behind the question, as a believed hub may be. */
export function settledBefore(askedAt: Date): Date {
  return new Date(askedAt.getTime() - mostDelaySeconds * second)
}

/** Why a hub is behind the network, by what it says of itself; undefined: that does not show it. */
export function whyStale({ delaySeconds, isSyncing }: Network): string | undefined {
  if (isSyncing) return 'it says that it is syncing'
  if (delaySeconds !== undefined && delaySeconds > mostDelaySeconds) return `its newest block is ${delaySeconds} s old`
  return undefined
}

/** Seconds between two blocks of a shard. */
const blockSeconds = 1
/** Largest share by which totals may fall, as they do by pruning. */
const mostLost = 0.1
/** Totals below this are not judged: the network is a private one. */
const fewestJudged = 1_000

/** Why a hub cannot know the network, of which so much was known before; undefined: its totals do not show it. */
export function whyShrunk(network: Network, before: Totals): string | undefined {
  return fallen('accounts', before, network) ?? fallen('messages', before, network)
}

function fallen(what: keyof Totals, { [what]: before }: Totals, { [what]: total }: Network): string | undefined {
  if (before === null || before < fewestJudged || total === undefined) return undefined
  return total < before * (1 - mostLost) ? `it knows ${total} ${what}, and ${before} were known before` : undefined
}

/** Why what a hub lacks means nothing, as more is known of the network than it can know; undefined: nothing shows it. */
export function whyIgnorant(network: Network, { positions, ...totals }: Known): string | undefined {
  const late = network.shards.find(
    ({ shard, head }) => (positions.get(shard) ?? 0) > firstIdBehind(head, mostDelaySeconds / blockSeconds),
  )
  return late ? `it has not come to what was read of shard ${late.shard}` : whyShrunk(network, totals)
}
