import { getDomain } from 'tldts'

/** Whether two addresses are under one registrable domain, so that one party is responsible for both. */
export function isSameSite(one: URL, other: URL): boolean {
  if (one.hostname === other.hostname) return true
  const domain = siteOf(one)
  return domain !== null && domain === siteOf(other)
}

/** Registrable domain by the public suffix list with its private part, so that two customers of a hoster are two. */
export function siteOf({ hostname }: URL): string | null {
  return getDomain(hostname, { allowPrivateDomains: true })
}
