import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * Why no request may go to an IP address, with the source; undefined for a public unicast address.
 *
 * Judged on bytes, never on text: one address has many spellings. IPv4 is open but for the special-purpose blocks;
 * IPv6 is closed but for the global unicast space, which leaves out every form that carries an IPv4 address
 * (compatible ::/96, mapped ::ffff:0:0/96, NAT64 64:ff9b::/96 and 64:ff9b:1::/48) along with ::1, fc00::/7, fe80::/10,
 * ff00::/8. It does not know a network's own NAT64 prefix (RFC 6052): that takes a firewall.
 *
 * Source: IANA IPv4 and IPv6 Special-Purpose Address Registries; blocks marked "globally reachable" there (anycast
 * services, sinks) are refused too, as no agent lives in them.
 */
export function refusalOf(address: string): string | undefined {
  const bytes = toBytes(address)
  if (!bytes) return 'not an IP address'
  if (bytes.length === 4) return special4.find((block) => contains(block, bytes))?.why
  if (!contains(globalUnicast, bytes)) return `not ${globalUnicast.why}`
  if (carriesIsatap(bytes)) return 'ISATAP, an IPv4 address in disguise (RFC 5214)'
  return special6.find((block) => contains(block, bytes))?.why
}

/** The 4 or 16 bytes of an address in text form (RFC 4291 2.2); undefined for anything else, zone ids included. */
export function toBytes(address: string): Uint8Array | undefined {
  // The library also reads octal, hexadecimal and short forms, which other readers take for other addresses.
  if (isIP(address) === 0 || address.includes('%')) return undefined
  return Uint8Array.from(ipaddr.parse(address).toByteArray())
}

interface Block {
  readonly prefix: Uint8Array
  readonly bits: number
  readonly why: string
}

const globalUnicast = block('2000::/3', 'in 2000::/3, the global unicast space (RFC 4291)')

const special4 = [
  block('0.0.0.0/8', 'this network (RFC 791)'),
  block('10.0.0.0/8', 'private (RFC 1918)'),
  block('100.64.0.0/10', 'shared by carriers (RFC 6598)'),
  block('127.0.0.0/8', 'loopback (RFC 1122)'),
  block('168.63.129.16/32', 'host agent and resolver of Azure'),
  block('169.254.0.0/16', 'link-local, cloud metadata (RFC 3927)'),
  block('172.16.0.0/12', 'private (RFC 1918)'),
  block('192.0.0.0/24', 'protocol assignments (RFC 6890)'),
  block('192.0.2.0/24', 'documentation (RFC 5737)'),
  block('192.31.196.0/24', 'AS112 sink (RFC 7535)'),
  block('192.52.193.0/24', 'multicast tunnels (RFC 7450)'),
  block('192.88.99.0/24', '6to4 relays (RFC 7526)'),
  block('192.168.0.0/16', 'private (RFC 1918)'),
  block('192.175.48.0/24', 'AS112 sink (RFC 7534)'),
  block('198.18.0.0/15', 'benchmarks (RFC 2544)'),
  block('198.51.100.0/24', 'documentation (RFC 5737)'),
  block('203.0.113.0/24', 'documentation (RFC 5737)'),
  block('224.0.0.0/4', 'multicast (RFC 1112)'),
  block('240.0.0.0/4', 'reserved, broadcast (RFC 1112, RFC 919)'),
]

const special6 = [
  // Teredo 2001::/32, benchmarks 2001:2::/48, ORCHID 2001:10::/28 and 2001:20::/28, drone ids 2001:30::/28, anycasts
  block('2001::/23', 'protocol assignments, Teredo, ORCHID (RFC 2928, RFC 4380, RFC 7343)'),
  block('2001:db8::/32', 'documentation (RFC 3849)'),
  block('2002::/16', '6to4, an IPv4 address in disguise (RFC 3056)'),
  block('2620:4f:8000::/48', 'AS112 sink (RFC 7534)'),
  block('3ffe::/16', 'the returned 6bone (RFC 3701)'),
  block('3fff::/20', 'documentation (RFC 9637)'),
]

function block(cidr: string, why: string): Block {
  const [prefix = '', bits] = cidr.split('/')
  return { prefix: toBytes(prefix)!, bits: Number(bits), why }
}

function contains({ prefix, bits }: Block, bytes: Uint8Array): boolean {
  for (let index = 0, left = bits; left > 0; index++, left -= 8) {
    const mask = left >= 8 ? 0xff : 0xff << (8 - left)
    if (((prefix[index]! ^ bytes[index]!) & mask) !== 0) return false
  }
  return true
}

/** An interface id of 0000:5efe or 0200:5efe is followed by the IPv4 address a tunnel would deliver to. */
function carriesIsatap(bytes: Uint8Array): boolean {
  return (bytes[8]! & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe
}
