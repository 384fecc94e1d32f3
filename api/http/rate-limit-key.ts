import { isIP } from 'node:net'
import { ipKeyGenerator } from 'express-rate-limit'
import ipaddr from 'ipaddr.js'

/** Subscribers get a /64 or more, so one of them is one client. */
const ipv6PrefixBits = 64

/**
 * Rate limit key of a client: its IPv4 address, or the /64 of its IPv6 address. `ip` is what Express makes of the
 * socket and of TRUST_PROXY_HOPS; some proxies leave a port on it, which must not make a new client. Anything that is
 * not an address shares one key.
 */
export function clientOf(ip = ''): string {
  const known = clients.get(ip)
  if (known !== undefined) return known
  const client = judged(ip)
  if (clients.size >= rememberedClients) clients.clear()
  clients.set(ip, client)
  return client
}

/** Keys cached by address: each request asks more than once, and parsing takes longer than the rest of the counting. */
const rememberedClients = 4_096
const clients = new Map<string, string>()

function judged(ip: string): string {
  const address = withoutPort(ip)
  if (isIP(address) === 0) return 'unknown'
  const parsed = ipaddr.process(address) // an IPv4-mapped IPv6 address is that IPv4 address
  return parsed.kind() === 'ipv4' ? parsed.toString() : ipKeyGenerator(parsed.toNormalizedString(), ipv6PrefixBits)
}

function withoutPort(ip: string): string {
  const match = /^(\d+\.\d+\.\d+\.\d+):\d+$|^\[([^\]]+)\](?::\d+)?$/.exec(ip)
  return match?.[1] ?? match?.[2] ?? ip
}
