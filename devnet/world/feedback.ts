import type { PastDeed, PlannedToken } from './identities.ts'
import type { Wallet } from './keys.ts'
import type { Random } from './random.ts'

const feedbackCount = 40
const revokedShare = 0.15
export const feedbackTags = ['uptime', 'quality', 'speed', 'price', 'starred', '']

/** Feedback of the last day, some of it revoked. None is on an own identity, because the registry refuses that. */
export function planPastFeedback(
  random: Random,
  tokens: readonly PlannedToken[],
  clients: readonly Wallet[],
): PastDeed[] {
  const past: PastDeed[] = []
  const given = new Map<string, bigint>()
  for (let left = feedbackCount; left > 0; left--) {
    const { chain, agentId, owner } = random.pick(tokens.filter((token) => token.owner !== null))
    const by = random.pick(clients.filter(({ address }) => address !== owner))
    const value = BigInt(random.int(-20, 1000))
    past.push({ daysAgo: 0, deed: { kind: 'feedback', chain, by, agentId, value, tag: random.pick(feedbackTags) } })
    const key = [chain, agentId, by.address].join()
    const index = (given.get(key) ?? 0n) + 1n
    given.set(key, index)
    if (!random.chance(revokedShare)) continue
    past.push({ daysAgo: 0, deed: { kind: 'revoke-feedback', chain, by, agentId, index } })
  }
  return past
}
