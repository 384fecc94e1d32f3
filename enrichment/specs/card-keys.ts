import { z } from 'zod'
import { DoorError } from '../../net/errors.ts'
import { parseJson } from '../../net/json.ts'
import type { Json } from '../../trust/canonical-json.ts'
import { type CardSignature, checkCard } from '../../trust/card-signature.ts'
import { type AgentHosts, conditionsOf } from '../agent-hosts.ts'
import { specRequests } from './spec-requests.ts'

/** No redirects: a key from another place proves nothing for this one. */
const options = { ...specRequests, maxBytes: 64 * 1024, redirects: 0 }
const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(50) })

/**
 * Verdict on the signatures of a card that was read at `url`; undefined: none, as `spend` grants no request for a key that
 * it may depend on. Throws HostClosed when its host may not be asked.
 */
export async function signatureOf(
  hosts: AgentHosts,
  card: unknown,
  url: URL,
  spend: (host: string) => boolean,
): Promise<CardSignature | undefined> {
  let isShort = false
  const verdict = await checkCard(card as Readonly<Record<string, Json>>, url, async (place) => {
    if (!spend(place.host)) {
      isShort = true
      return undefined
    }
    try {
      const { status, body } = await hosts.fetch(place, { ...options, headers: conditionsOf(undefined) })
      return status === 200 ? keySet.safeParse(parseJson(body)).data?.keys : undefined
    } catch (error) {
      if (error instanceof DoorError) return undefined
      throw error
    }
  })
  return isShort && verdict !== 'valid' ? undefined : verdict
}
