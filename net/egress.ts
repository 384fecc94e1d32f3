import { isIP } from 'node:net'

/** Canonical `host:port` entries the door may reach although private or not https: nothing but exactly these. */
export type EgressAllow = ReadonlySet<string>

const maxEntries = 256

/**
 * Reads EGRESS_ALLOW: `host:port` entries between commas or white space, a host being a name or an address in its
 * canonical spelling, IPv6 in brackets. Empty or absent: no exception. Throws one Error naming every bad entry.
 *
 * An entry opens this host at this port, by http and https. It does not open the host's other ports, other names
 * with the same address, or this address under other names.
 */
export function parseEgressAllow(text: string | undefined): EgressAllow {
  const entries = (text ?? '').split(/[\s,]+/).filter((entry) => entry !== '')
  const problems = entries.flatMap((entry) => problemOf(entry) ?? [])
  if (entries.length > maxEntries) problems.push(`${entries.length} entries, at most ${maxEntries} are taken`)
  if (problems.length > 0) throw new Error(`EGRESS_ALLOW: ${problems.join('; ')}`)
  return new Set(entries)
}

function problemOf(entry: string): string | undefined {
  const quoted = JSON.stringify(entry)
  if (entry.includes('/')) return `${quoted} must be host:port alone, without scheme or path`
  if (entry.includes('*')) return `${quoted} is a pattern, each host has to be named`
  const match = /^(.*?):(\d{1,5})$/.exec(entry)
  if (!match || (match[1]!.includes(':') && !match[1]!.startsWith('['))) {
    return `${quoted} must be host:port, an IPv6 address in brackets`
  }
  const [, host, port] = match as unknown as [string, string, string]
  if (Number(port) < 1 || Number(port) > 65_535 || port.startsWith('0')) return `${quoted} has no port from 1 to 65535`
  const canonical = canonicalHost(host)
  if (canonical === undefined) return `${quoted} has no host name or address`
  if (canonical !== host) return `${quoted} must be spelled ${canonical}:${port}`
  return undefined
}

function canonicalHost(host: string): string | undefined {
  const url = URL.parse(`http://${host}/`)
  if (url?.username !== '' || url.password !== '' || url.hostname === '') return undefined
  return isIP(url.hostname) === 0 && url.hostname.endsWith('.') ? url.hostname.slice(0, -1) : url.hostname
}
