import { isSameSite } from '../../config/platforms.ts'
import { DoorError } from '../../net/errors.ts'
import { parseJson } from '../../net/json.ts'
import { type AgentHosts, conditionsOf } from '../agent-hosts.ts'
import { type BackReference, type Holdings, referenceIn } from './back-reference.ts'
import { specRequests } from './spec-requests.ts'

const path = '/.well-known/agent-registration.json'
const options = { ...specRequests, maxBytes: 256 * 1024, redirects: 3, mayRedirect: isSameSite }

/**
 * Whether an origin lists a registration of an agent as its own. Undefined: unknown, as after an error or a page
 * instead of the file. Throws HostClosed when the host must not be asked now.
 */
export async function askOrigin(
  hosts: AgentHosts,
  origin: URL,
  holdings: Holdings,
): Promise<BackReference | undefined> {
  try {
    const { status, body } = await hosts.fetch(new URL(path, origin), { ...options, headers: conditionsOf(undefined) })
    if (status === 404 || status === 410) return 'missing'
    return status === 200 ? referenceIn(parseJson(body), holdings) : undefined
  } catch (error) {
    if (error instanceof DoorError) return undefined
    throw error
  }
}
