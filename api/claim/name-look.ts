import { setTimeout as delay } from 'node:timers/promises'
import { claimLimits } from '../../config/limits.claims.ts'
import { second } from '../../ops/time.ts'
import type { ClaimDeps } from './claim.ts'
import { keepLooks } from './looks.ts'

/** Whose a user name is, as the network says. `nobody`: it knows no such name. */
export type NameStanding =
  | { readonly state: 'found'; readonly fid: number }
  | { readonly state: 'nobody' }
  | { readonly state: 'unknown' }

export type NameLook = (name: string, client: string) => Promise<NameStanding>

const { client: perClient, all } = claimLimits.nameLooks
/** How long a page waits for the network, milliseconds; a later result shows on the next view. */
const longestLookMs = 2 * second

/**
 * Asks the network whose a user name is, for people who know no FID. A client, and all clients together, are counted
 * apart from attempts to claim. Nothing is decided by the answer: whoever claims proves the FID.
 */
export function createNameLook(deps: Pick<ClaimDeps, 'social' | 'attempts' | 'now'>): NameLook {
  const kept = keepLooks<NameStanding>(deps.now)
  return (name, client) => {
    const late: NameStanding = { state: 'unknown' }
    return Promise.race([kept(name, () => look(deps, name, client)), delay(longestLookMs, late, { ref: false })])
  }
}

async function look(
  { social, attempts }: Pick<ClaimDeps, 'social' | 'attempts'>,
  name: string,
  client: string,
): Promise<NameStanding> {
  try {
    const own = await attempts.count(`name client:${client}`, perClient.seconds)
    if (own.attempts > perClient.attempts) return { state: 'unknown' }
    const together = await attempts.count('name', all.seconds)
    if (together.attempts > all.attempts) return { state: 'unknown' }
    const fid = await social.nameHolder(name)
    return fid === undefined ? { state: 'nobody' } : { state: 'found', fid }
  } catch {
    return { state: 'unknown' }
  }
}
