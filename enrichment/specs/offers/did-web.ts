import type { JsonWebKey } from 'node:crypto'
import { z } from 'zod'
import { DoorError } from '../../../net/errors.ts'
import { parseJson } from '../../../net/json.ts'
import { type AgentHosts, conditionsOf } from '../../agent-hosts.ts'
import { specRequests } from '../spec-requests.ts'

/** No redirects: a key from another place proves nothing for this one. */
const options = { ...specRequests, maxBytes: 64 * 1024, redirects: 0 }
const mostKeys = 50
const didDocument = z.object({
  id: z.string(),
  verificationMethod: z
    .array(z.looseObject({ id: z.string(), publicKeyJwk: z.looseObject({ kty: z.string() }).optional() }))
    .max(mostKeys),
})

/**
 * Creates the function that looks for a key in the DID document of a host (`did:web`), which is asked for once. It finds no
 * key of another host or method. Throws HostClosed when the host may not be asked.
 *
 * Source: did:web method specification; DID Core, 5.2 and 3.2 (relative DID URLs).
 */
export function createDidKeys(hosts: AgentHosts, endpoint: URL, spend: (host: string) => boolean) {
  const did = `did:web:${endpoint.host.replace(':', '%3A')}`
  let document: Promise<z.output<typeof didDocument> | undefined> | undefined

  async function read() {
    if (!spend(endpoint.host)) return undefined
    try {
      const place = new URL('/.well-known/did.json', endpoint)
      const { status, body } = await hosts.fetch(place, { ...options, headers: conditionsOf(undefined) })
      const { data } = status === 200 ? didDocument.safeParse(parseJson(body)) : {}
      return data && spelt(data.id) === spelt(did) ? data : undefined
    } catch (error) {
      if (error instanceof DoorError) return undefined
      throw error
    }
  }

  return async (kid: string): Promise<JsonWebKey | undefined> => {
    if (!spelt(kid).startsWith(`${spelt(did)}#`)) return undefined
    document ??= read()
    const fragment = kid.slice(kid.indexOf('#'))
    const method = (await document)?.verificationMethod.find(({ id }) => id === fragment || spelt(id) === spelt(kid))
    return method?.publicKeyJwk
  }
}

/** The name of a host has no case, nor has the sign before its port. */
function spelt(did: string): string {
  const [name, ...fragment] = did.split('#')
  return [name!.toLowerCase(), ...fragment].join('#')
}
