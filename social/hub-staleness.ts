import { hour, second } from '../ops/time.ts'
import type { Network } from './social-index.ts'

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
