import { lookup, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { refusalOf } from './address.ts'
import { DoorError } from './errors.ts'
import type { Target } from './target.ts'

/** Every address of a name, in text form. Rejects, or answers none, when there is none. */
export type Lookup = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>

/** Tries for each name server, and the timeout of the first in milliseconds; it grows with each try. */
const tries = 2
const tryMs = 2_000

/**
 * Asks the name servers, not the system's resolver: names of strangers must not meet the hosts file or search domains,
 * and a name server that never answers must not hold one of the few threads that getaddrinfo blocks.
 * `servers` are `address:port`; without them the system's are asked.
 */
export function askNameServers(servers?: readonly string[]): Lookup {
  return (hostname, signal) =>
    asked(servers, signal, async (resolver) => {
      const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
      if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason
      return [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    })
}

/** Texts of a name (TXT records), each in one piece. Rejects, or answers none, when there is none. */
export type LookupTexts = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>

/** Asks the same name servers as `askNameServers`. Whether their answers are signed (DNSSEC) is for them to check. */
export function askNameServersForTexts(servers?: readonly string[]): LookupTexts {
  return (hostname, signal) =>
    asked(servers, signal, async (resolver) => (await resolver.resolveTxt(hostname)).map((parts) => parts.join('')))
}

async function asked<T>(
  servers: readonly string[] | undefined,
  signal: AbortSignal,
  ask: (resolver: Resolver) => Promise<T>,
): Promise<T> {
  const resolver = new Resolver({ timeout: tryMs, tries })
  if (servers) resolver.setServers(servers)
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    return await ask(resolver)
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/** Asks the system, hosts file included: for the names an operator lists in EGRESS_ALLOW. */
export const askSystem: Lookup = async (hostname) => (await lookup(hostname, { all: true })).map((one) => one.address)

/** More addresses than this are a fault of the name, or an attempt to make us connect to many hosts. */
const maxAddresses = 64

/**
 * The addresses a request to `target` may connect to. One bad address refuses the whole set: a name that mixes public
 * and private addresses is an attack or a fault, and picking the good ones would let a retry decide.
 * Throws DoorError `blocked` or `dns_error`.
 *
 * The answer serves one request and is connected to as it is; a later request resolves again. So a name that changes
 * between the lookup and the connection (DNS rebinding) gains nothing.
 */
export async function judgedAddresses(target: Target, ask: Lookup, signal: AbortSignal): Promise<readonly string[]> {
  const { hostname, allowed } = target
  if (isIP(hostname) !== 0) {
    if (allowed) return [hostname]
    throw new DoorError('blocked', `${hostname} is an address instead of a name`)
  }
  const addresses = await ask(hostname, signal).catch((cause: unknown) => {
    throw new DoorError('dns_error', `${hostname} has no address: ${(cause as Error).message}`, { cause })
  })
  if (addresses.length === 0) throw new DoorError('dns_error', `${hostname} has no address`)
  if (addresses.length > maxAddresses) {
    throw new DoorError('dns_error', `${hostname} has ${addresses.length} addresses, at most ${maxAddresses} are taken`)
  }
  for (const address of allowed ? [] : addresses) {
    const refusal = refusalOf(address)
    if (refusal) throw new DoorError('blocked', `${hostname} has the address ${address}: ${refusal}`)
  }
  return addresses
}
