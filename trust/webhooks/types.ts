/** Types of the events that endpoints are sent. */
export const webhookTypes = [
  'agent.listed',
  'agent.updated',
  'agent.delisted',
  'agent.claimed',
  'agent.control',
  'endpoint.down',
  'pay_to.changed',
  'operator.added',
  'settlement.received',
] as const
export type WebhookType = (typeof webhookTypes)[number]

/** Longest address of an endpoint, in characters. */
const longestUrl = 500

/** The address of an endpoint in a proof, in its one spelling. Undefined: it is not one, or is spelled otherwise. */
export function webhookUrl(given: unknown): string | undefined {
  if (typeof given !== 'string' || given.length > longestUrl) return undefined
  const url = URL.parse(given)
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.hash === '' && url.username === ''
  return isPlain && url.href === given && !given.includes('\n') ? given : undefined
}
