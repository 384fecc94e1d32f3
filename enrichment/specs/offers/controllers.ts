import { isIP } from 'node:net'
import type { AgentHosts } from '../../agent-hosts.ts'
import { specRequests } from '../spec-requests.ts'

/** Controllers of a name that are taken. */
const mostControllers = 20

/**
 * Creates the function that tells whether the owner of an endpoint's name lets the key of a DID sign for it, by a TXT record,
 * which is asked for once: `v=1;controller=did:pkh:eip155:1:0x…;controller=did:jwk:…`. An address has no name and no record.
 *
 * Source: x402 extension offer-receipt, 4.5.1, DNS TXT records.
 */
export function createControllers(hosts: AgentHosts, { host, hostname }: URL, spend: (host: string) => boolean) {
  let controllers: Promise<ReadonlySet<string>> | undefined

  async function read(): Promise<ReadonlySet<string>> {
    if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || !spend(host)) return new Set()
    const texts = (await hosts.texts(`_controllers.${hostname}`, specRequests.timeoutMs)) ?? []
    return new Set(texts.flatMap(controllersIn).slice(0, mostControllers))
  }

  return async (did: string): Promise<boolean> => {
    controllers ??= read()
    return (await controllers).has(spelt(did))
  }
}

function controllersIn(text: string): string[] {
  const [version, ...members] = text.split(';').map((member) => member.trim())
  if (version !== 'v=1') return []
  return members.flatMap((member) => (member.startsWith('controller=') ? [spelt(member.slice(11).trim())] : []))
}

/** Addresses have no case; keys have. */
const spelt = (did: string) => (did.startsWith('did:pkh:eip155:') ? did.toLowerCase() : did)
