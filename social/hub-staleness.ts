import type { Network } from './social-index.ts'

/** Oldest that a hub's newest block may be, in seconds; with an older one the hub is behind. */
export const mostDelaySeconds = 600

/** Why a hub is behind the network, by what it says of itself; undefined: that does not show it. */
export function whyStale({ delaySeconds, isSyncing }: Network): string | undefined {
  if (isSyncing) return 'it says that it is syncing'
  if (delaySeconds !== undefined && delaySeconds > mostDelaySeconds) return `its newest block is ${delaySeconds} s old`
  return undefined
}
