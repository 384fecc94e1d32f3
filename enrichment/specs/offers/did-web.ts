import type { JsonWebKey } from 'node:crypto'
import { z } from 'zod'
import { DoorError } from '../../../net/errors.ts'
import { parseJson } from '../../../net/json.ts'
import { type AgentHosts, conditionsOf } from '../../agent-hosts.ts'
import { specRequests } from '../spec-requests.ts'

/** No redirects: a key from another place proves nothing for this one. */
const options = { ...specRequests, maxBytes: 64 * 1024, redirects: 0 }
const mostKeys = 50
const method = z.looseObject({ id: z.string(), publicKeyJwk: z.looseObject({ kty: z.string() }).optional() })
/** Keys that are for one purpose: named, or standing there whole. What is neither is passed over. */
const purpose = z
  .array(z.union([z.string(), method]).catch(''))
  .max(mostKeys)
  .optional()
const didDocument = z.object({
  id: z.string(),
  verificationMethod: z.array(method).max(mostKeys).default([]),
  assertionMethod: purpose,
  authentication: purpose,
  keyAgreement: purpose,
  capabilityInvocation: purpose,
  capabilityDelegation: purpose,
})
type DidDocument = z.output<typeof didDocument>

/**
 * Creates the function that looks for a key in the DID document of a host (`did:web`), which is asked for once. It finds no
 * key of another host or method, and none that the document has for another purpose than statements. Throws HostClosed when
 * the host may not be asked.
 *
 * Source: did:web method specification; DID Core, 5.2, 5.3 and 3.2 (relative DID URLs); x402 extension offer-receipt 4.5.1.
 */
export function createWebKeys(hosts: AgentHosts, endpoint: URL, spend: (host: string) => boolean) {
  const did = `did:web:${endpoint.host.replace(':', '%3A')}`
  let document: Promise<DidDocument | undefined> | undefined

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
    const found = await document
    return found && signersIn(found).find(({ id }) => spelt(id, did) === spelt(kid))?.publicKeyJwk
  }
}

/**
 * Keys of a document that may sign offers: those for assertions, where it says of any key what it is for; else all that
 * it lists, which is all that the extension asks for.
 */
function signersIn({ id: did, verificationMethod: listed, ...purposes }: DidDocument) {
  if (Object.values(purposes).every((one) => one === undefined)) return listed
  return (purposes.assertionMethod ?? []).flatMap((one) =>
    typeof one === 'string' ? listed.filter(({ id }) => spelt(id, did) === spelt(one, did)) : [one],
  )
}

/** A DID URL, whole where it is relative. The name of a host has no case, nor has the sign before its port. */
function spelt(url: string, base = ''): string {
  const [name, ...fragment] = (url.startsWith('#') ? base + url : url).split('#')
  return [name!.toLowerCase(), ...fragment].join('#')
}
