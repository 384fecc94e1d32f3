import { isIP, isIPv4 } from 'node:net'
import { ipKeyGenerator } from 'express-rate-limit'

/** Subscribers get a /64 or more, so one of them is one client. */
const ipv6PrefixBits = 64

/**
 * Who is limited: the IPv4 address, or the /64 of an IPv6 address. `ip` is what Express makes of the socket and of
 * TRUST_PROXY_HOPS; some proxies leave a port on it, which must not make a new client. What is no address at all
 * shares one bucket.
 */
export function clientOf(ip: string | undefined): string {
  const address = withoutPort(ip ?? '')
  if (isIPv4(address)) return address
  if (isIP(address) === 0) return 'unknown'
  const embedded = address.slice(address.lastIndexOf(':') + 1)
  if (address.toLowerCase().startsWith('::ffff:') && isIPv4(embedded)) return embedded
  return ipKeyGenerator(address, ipv6PrefixBits)
}

function withoutPort(ip: string): string {
  const match = /^(\d+\.\d+\.\d+\.\d+):\d+$|^\[([^\]]+)\](?::\d+)?$/.exec(ip)
  return match?.[1] ?? match?.[2] ?? ip
}
