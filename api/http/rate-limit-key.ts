import { isIP } from 'node:net'
import { ipKeyGenerator } from 'express-rate-limit'
import ipaddr from 'ipaddr.js'

/** Subscribers get a /64 or more, so one of them is one client. */
const ipv6PrefixBits = 64

/**
 * Rate limit key of a client: its IPv4 address, or the /64 of its IPv6 address. Behind a translator (NAT64) it is the
 * IPv4 address within: the whole IPv4 Internet lies in one such /64. `ip` is what Express makes of the socket and of
 * TRUST_PROXY_HOPS; some proxies leave a port on it, which must not make a new client. Anything that is not an address
 * shares one key.
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
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  if (translated.has(parsed.range())) return new ipaddr.IPv4(parsed.toByteArray().slice(-4)).toString()
  return ipKeyGenerator(parsed.toNormalizedString(), ipv6PrefixBits)
}

/** Ranges that end with an IPv4 address: 64:ff9b::/96 (RFC 6052) and ::ffff:0:0:0/96 (RFC 6145). */
const translated = new Set<string>(['rfc6052', 'rfc6145'])

function withoutPort(ip: string): string {
  const match = /^(\d+\.\d+\.\d+\.\d+):\d+$|^\[([^\]]+)\](?::\d+)?$/.exec(ip)
  return match?.[1] ?? match?.[2] ?? ip
}
