import type { JsonWebKey } from 'node:crypto'
import { z } from 'zod'
import type { KeyOf } from '../../../trust/offer-jws.ts'
import type { AgentHosts } from '../../agent-hosts.ts'
import { parsed } from '../content.ts'
import { createControllers } from './controllers.ts'
import { createWebKeys } from './did-web.ts'

/** Who may sign offers of an endpoint, besides the key of `payTo`. */
export interface Signers {
  /** The key of a DID URL, if it may. */
  readonly keyOf: KeyOf
  /** The DID of an address, if it may. */
  readonly didOf: (address: string) => Promise<string | undefined>
}

/**
 * Creates what tells who may sign for an endpoint: keys that its host publishes (did:web), and keys and addresses that its
 * name has as controllers in DNS (did:jwk, did:pkh). Throws HostClosed when the host may not be asked.
 *
 * Source: x402 extension offer-receipt, 4.5.1. The next DID method is a row.
 */
export function createSigners(hosts: AgentHosts, endpoint: URL, spend: (host: string) => boolean): Signers {
  const isController = createControllers(hosts, endpoint, spend)
  const methods: Readonly<Record<string, KeyOf>> = {
    web: createWebKeys(hosts, endpoint, spend),
    async jwk(kid) {
      const [did = ''] = kid.split('#')
      const key = kid === did || kid === `${did}#0` ? jwkIn(did) : undefined
      return key && (await isController(did)) ? key : undefined
    },
  }
  return {
    async keyOf(kid) {
      const [, method = ''] = /^did:([a-z0-9]{1,20}):/.exec(kid) ?? []
      return Object.hasOwn(methods, method) ? await methods[method]!(kid) : undefined
    },
    async didOf(address) {
      const did = `did:pkh:eip155:1:${address}`
      return (await isController(did)) ? did : undefined
    },
  }
}

const jwk = z.looseObject({ kty: z.string(), use: z.string().optional() })

/** The key that a DID is made of; undefined: malformed, or for encryption, with which nothing is signed. Source: did:jwk method. */
function jwkIn(did: string): JsonWebKey | undefined {
  const { data } = jwk.safeParse(parsed(Buffer.from(did.slice('did:jwk:'.length), 'base64url')))
  return data?.use === 'enc' ? undefined : data
}
